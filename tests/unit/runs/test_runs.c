/* The folder of a run: what is seen is one whole run, the former or the new one; what is there and not ours
 * stays; who writes is alone. */
#include "folder_support.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "runs/internal.h"
#include "runs/list.h"
#include "text/file.h"

static ff_notes notes;

static int enter(void **state) {
    return make_folder(state) != 0 || chdir(test_folder) != 0;
}

static int clean(void **state) {
    (void)state;
    ff_notes_clear(&notes);
    return system("rm -rf out d"); /* NOLINT: in our own folder */
}

static ff_run_wanted wanted(const char *out) {
    return (ff_run_wanted){.out = out, .name = "case", .command = "run"};
}

static void put(const char *folder, const char *name, const char *text) {
    char path[FF_FILE_PATH];
    ff_file_whole whole; /* not synced: no power is cut here */
    snprintf(path, sizeof path, "%s/%s", folder, name);
    *strrchr(path, '/') = 0;
    assert_int_equal(ff_folder_make(path), FF_OK);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(ff_file_begin(path, &whole), FF_OK);
    assert_int_equal(ff_file_end(&whole, fputs(text, whole.file) >= 0), FF_OK);
}

static bool is(const char *path, const char *text) {
    char *found = get_file(path);
    const bool same = found && strcmp(found, text) == 0;
    free(found);
    return same;
}

static bool exists(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

/* A run that writes summary.json and one more file, up to its end. */
static ff_outcome make(const ff_run_wanted *w, const char *summary, const char *more, bool whole) {
    ff_run_folder run;
    const ff_outcome begun = ff_run_begin(w, &run, &notes);
    if (begun != FF_DONE)
        return begun;
    put(run.path, "summary.json", summary);
    put(run.path, more, summary);
    const ff_run_end end = {.whole = whole, .verdict = "pass"};
    const ff_outcome outcome = ff_run_finish(&run, &end, &notes);
    assert_int_equal(run.lock, -1);
    return outcome;
}

static int findings;

static void count_finding(void *user, const ff_run_finding *finding) {
    findings += !finding->good;
    if (user && !finding->good) /* what was said last */
        snprintf(user, FF_FILE_PATH, "%s %s: %s, %s", finding->kind, finding->what, finding->a, finding->b);
}

static bool verifies(char said[FF_FILE_PATH]) {
    ff_run_verify out;
    char message[256] = "";
    *said = 0;
    const ff_status status = ff_runs_verify("d", NULL, count_finding, said, &out, message, sizeof message);
    if (status != FF_OK)
        snprintf(said, FF_FILE_PATH, "%s", message);
    assert_int_equal(status == FF_OK && out.different == 0, *said == 0); /* never without a word */
    return !*said;
}

static void test_names_do_not_lead_out(void **state) {
    (void)state;
    char plain[32], path[FF_FILE_PATH];
    ff_run_plain("../a b/c.d", plain, sizeof plain);
    assert_string_equal(plain, "_._a_b_c.d");
    assert_true(ff_run_below("/tmp/x y", "tdpa:reading=printed,+-_", path));
    assert_string_equal(path, "/tmp/x y/tdpa:reading=printed,+-_"); /* what the user gave stays as it is */
    char name[6000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ff_run_plain(name, plain, sizeof plain);
    assert_int_equal(strlen(plain), sizeof plain - 1);
    assert_false(ff_run_below(name, "x", path));
    ff_run_wanted w = wanted(name);
    assert_int_equal(make(&w, "a", "log.csv", true), FF_REFUSED);
    assert_line(notes.error, "cannot write into this folder");
    ff_notes_clear(&notes);
    w = wanted("");
    assert_int_equal(make(&w, "a", "log.csv", true), FF_REFUSED);
    assert_line(notes.error, "--out ''");
}

/* The link moves to a run when that is complete and not before; each keeps its folder. */
static void test_link_shows_complete_runs_only(void **state) {
    (void)state;
    const ff_run_wanted w = wanted(NULL);
    assert_int_equal(make(&w, "first", "log.csv", true), FF_DONE);
    assert_true(is("out/case/summary.json", "first"));
    char first[256], second[256];
    assert_true(readlink("out/case", first, sizeof first) > 0);
    ff_run_folder run;
    assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
    put(run.path, "summary.json", "second");
    assert_true(is("out/case/summary.json", "first")); /* while it is written */
    ff_manifest m;
    assert_int_equal(ff_manifest_read(run.path, &m), FF_OK);
    assert_string_equal(ff_manifest_text(&m, "state"), "running");
    ff_manifest_free(&m);
    const ff_run_end stopped = {.whole = true, .stopped = true, .exit_status = 1};
    assert_int_equal(ff_run_finish(&run, &stopped, &notes), FF_FAILED);
    assert_true(is("out/case/summary.json", "first"));
    assert_non_null(strstr(notes.warning, run.path));
    assert_int_equal(make(&w, "cut", "log.csv", false), FF_FAILED);
    assert_true(is("out/case/summary.json", "first"));
    assert_int_equal(make(&w, "third", "log.csv", true), FF_DONE);
    assert_true(is("out/case/summary.json", "third"));
    const ssize_t n = readlink("out/case", second, sizeof second - 1);
    second[n > 0 ? n : 0] = 0;
    assert_memory_equal(second, ".runs/case/", 11);
    assert_true(memcmp(first, second, (size_t)n) != 0);
    assert_int_equal(ff_manifest_read("out/case", &m), FF_OK);
    assert_true(ff_manifest_complete(&m));
    assert_string_equal(ff_manifest_text(&m, "verdict"), "pass");
    ff_manifest_free(&m);
    assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
    ff_run_abandon(&run); /* nothing ran: nothing is left of it */
    assert_false(exists(run.path));
    assert_true(is("out/case/summary.json", "third"));
}

/* A folder of an earlier version becomes a run without a manifest; a link or a file of someone else's stays.
 */
static void test_what_stands_in_the_place_of_the_link(void **state) {
    (void)state;
    const ff_run_wanted w = wanted(NULL);
    assert_int_equal(ff_folder_make("out/case"), FF_OK);
    put("out/case", "summary.json", "earlier");
    assert_int_equal(make(&w, "new", "log.csv", true), FF_DONE);
    assert_true(is("out/case/summary.json", "new"));
    assert_int_equal(system("test \"$(cat out/.runs/case/earlier-*/summary.json)\" = earlier"),
                     0); /* NOLINT */
    assert_int_equal(unlink("out/case"), 0);
    assert_int_equal(symlink("/tmp", "out/case"), 0);
    assert_int_equal(make(&w, "x", "log.csv", true), FF_REFUSED);
    assert_line(notes.error, "a link to /tmp, not ours");
    ff_notes_clear(&notes);
    assert_int_equal(unlink("out/case"), 0);
    put("out", "case", "a file");
    assert_int_equal(make(&w, "x", "log.csv", true), FF_REFUSED);
    assert_line(notes.error, "a file, not ours");
    assert_true(is("out/case", "a file"));
}

/* --out DIR: new and empty folders, complete runs; the former one's files go when the new ones come, others
 * stay. */
static void test_given_folder(void **state) {
    (void)state;
    ff_run_wanted w = wanted("d");
    assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
    put("d", "notes.txt", "mine");
    ff_run_folder run;
    assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
    put(run.path, "summary.json", "two");
    assert_int_equal(ff_folder_make("d/.freefloat.new/tdpa"), FF_OK);
    put(run.path, "tdpa/log.mcap", "two");
    assert_true(is("d/summary.json", "one") && is("d/log.csv", "one")); /* until the end */
    assert_int_equal(ff_run_finish(&run, &(ff_run_end){.whole = true}, &notes), FF_DONE);
    assert_true(is("d/summary.json", "two") && is("d/tdpa/log.mcap", "two"));
    assert_false(exists("d/log.csv") || exists("d/.freefloat.new") || exists("d/.freefloat.former") ||
                 exists("d/.freefloat.lock"));
    assert_true(is("d/notes.txt", "mine"));
    assert_int_equal(make(&w, "three", "log.csv", true), FF_DONE);
    assert_false(exists("d/tdpa"));
    assert_int_equal(make(&w, "cut", "log.csv", false), FF_FAILED);
    assert_true(is("d/summary.json", "three"));
    assert_int_equal(make(&w, "four", "log.csv", true),
                     FF_REFUSED); /* what the cut one left is not thrown away */
    assert_line(notes.error, "was not completed, in .freefloat.new");
    w.force = true;
    assert_int_equal(make(&w, "four", "log.mcap", true), FF_DONE);
    assert_true(is("d/summary.json", "four"));
    assert_false(exists("d/log.csv"));
    assert_true(is("d/notes.txt", "mine"));
}

static void test_given_folder_of_others(void **state) {
    (void)state;
    ff_run_wanted w = wanted("d");
    assert_int_equal(mkdir("d", 0777), 0);
    put("d", "thesis.tex", "years");
    put("d", "log.mcap", "of an earlier version");
    assert_int_equal(make(&w, "one", "log.csv", true), FF_REFUSED);
    assert_line(notes.error, "no run of freefloat");
    assert_false(exists("d/.freefloat.lock"));
    w.force = true;
    assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
    assert_true(is("d/thesis.tex", "years") && is("d/summary.json", "one"));
    assert_false(exists("d/log.mcap")); /* would be a log beside another run's summary */
    w = wanted("e");
    ff_run_folder run;
    assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
    put("e", "log.csv", "half");
    ff_run_abandon(&run);
    assert_false(exists("e"));
    assert_int_equal(mkdir("e", 0777), 0);
    assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
    ff_run_abandon(&run);
    assert_int_equal(rmdir("e"), 0); /* it was there before, and is as it was */
}

/* The second of two writers is refused with the first one's number; a dead one does not block. */
static void test_one_writer_at_a_time(void **state) {
    (void)state;
    const ff_run_wanted w = wanted("d");
    ff_run_folder run, other;
    assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
    char who[64];
    snprintf(who, sizeof who, "another run writes into this folder (process %ld on ", (long)getpid());
    assert_int_equal(ff_run_begin(&w, &other, &notes), FF_REFUSED);
    assert_line(notes.error, who);
    ff_notes_clear(&notes);
    put("d", "summary.json", "one");
    assert_int_equal(ff_run_finish(&run, &(ff_run_end){.whole = true}, &notes), FF_DONE);
    const pid_t child = fork();
    if (child == 0) {
        const bool begun = ff_run_begin(&w, &run, &notes) == FF_DONE;
        put("d/.freefloat.new", "summary.json", "dead");
        _exit(begun ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(is("d/summary.json", "one"));
    assert_int_equal(make(&w, "two", "log.csv", true), FF_REFUSED);
    assert_line(notes.error, "was not completed");
}

/* A move that is cut anywhere is completed by the next one: what is left by each cut is made by hand. */
static void test_cut_switch_is_completed(void **state) {
    (void)state;
    ff_run_wanted w = wanted("d");
    for (int cut = 0; cut < 4; cut++) {
        assert_int_equal(system("rm -rf d e"), 0); /* NOLINT */
        w.out = "d";
        assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
        w.out = "e";
        assert_int_equal(make(&w, "two", "log.mcap", true), FF_DONE);
        assert_int_equal(rename("e", "d/.freefloat.new"), 0);
        if (cut > 0) {
            assert_int_equal(mkdir("d/.freefloat.former", 0777), 0);
            assert_int_equal(rename("d/manifest.json", "d/.freefloat.former/manifest.json"), 0);
        }
        if (cut > 1) {
            assert_int_equal(rename("d/summary.json", "d/.freefloat.former/summary.json"), 0);
            assert_int_equal(rename("d/.freefloat.new/summary.json", "d/summary.json"), 0);
        }
        if (cut > 2) {
            assert_int_equal(rename("d/log.csv", "d/.freefloat.former/log.csv"), 0);
            assert_int_equal(rename("d/.freefloat.new/log.mcap", "d/log.mcap"), 0);
            assert_int_equal(rename("d/.freefloat.new/manifest.json", "d/manifest.json"), 0);
        }
        w.out = "d";
        ff_run_folder run;
        ff_notes_clear(&notes);
        assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
        assert_int_equal(strstr(notes.warning, "cut short") != NULL, cut < 3);
        ff_run_abandon(&run);
        assert_true(is("d/summary.json", "two") && is("d/log.mcap", "two"));
        assert_false(exists("d/log.csv") || exists("d/.freefloat.new") || exists("d/.freefloat.former"));
        ff_manifest m;
        assert_int_equal(ff_manifest_read("d", &m), FF_OK);
        assert_true(ff_manifest_complete(&m));
        ff_manifest_free(&m);
    }
}

/* A switch that fails on its way is undone: the former run is there, all of it; later it is completed. */
static void test_failed_switch_is_undone(void **state) {
    (void)state;
    ff_run_wanted w = wanted("d");
    char said[FF_FILE_PATH];
    assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
    put("d", "tdpa", "mine"); /* where the new run has a folder */
    ff_run_folder run;
    assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
    put(run.path, "summary.json", "two");
    assert_int_equal(ff_folder_make("d/.freefloat.new/tdpa"), FF_OK);
    put(run.path, "tdpa/log.csv", "two");
    assert_int_equal(ff_run_finish(&run, &(ff_run_end){.whole = true}, &notes), FF_FAILED);
    assert_line(notes.error, "cannot be switched to the new run");
    assert_non_null(strstr(notes.warning, "d is as it was"));
    assert_true(verifies(said) && is("d/summary.json", "one") && is("d/log.csv", "one") &&
                is("d/tdpa", "mine"));
    assert_false(exists("d/.freefloat.former"));
    assert_int_equal(unlink("d/tdpa"), 0);
    assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
    ff_run_abandon(&run);
    assert_true(verifies(said) && is("d/summary.json", "two") && is("d/tdpa/log.csv", "two"));
    assert_false(exists("d/.freefloat.former") || exists("d/log.csv"));
    /* a folder with a result's name is refused before anything is touched */
    assert_int_equal(mkdir("d/log.csv", 0777), 0);
    w.force = true;
    ff_notes_clear(&notes);
    assert_int_equal(make(&w, "three", "log.csv", true), FF_REFUSED);
    assert_line(notes.error, "its log.csv is a folder");
    assert_true(verifies(said) && exists("d/log.csv"));
}

/* What --out may not lead to, and what it may not remove. */
static void test_given_folder_that_is_kept(void **state) {
    (void)state;
    static const char *const into[] = {"out/case", "out/case/", "./out/case", "out/case/below/it"};
    ff_run_wanted w = wanted(NULL);
    assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
    w.force = true;
    for (size_t i = 0; i < sizeof into / sizeof *into; i++) {
        ff_notes_clear(&notes);
        w.out = into[i];
        assert_int_equal(make(&w, "two", "log.csv", true), FF_REFUSED);
        assert_line(notes.error, "leads to a run that is kept in out/.runs");
    }
    assert_true(is("out/case/summary.json", "one") && !exists("out/case/below"));
    ff_notes_clear(&notes);
    w.out = "out/.runs/case/mine"; /* not a run's place */
    assert_int_equal(make(&w, "two", "log.csv", true), FF_DONE);
    w = wanted("d");
    assert_int_equal(ff_folder_make("d/.freefloat.new"), FF_OK);
    put("d/.freefloat.new", "thesis.tex", "years");
    ff_notes_clear(&notes);
    assert_int_equal(make(&w, "one", "log.csv", true), FF_REFUSED);
    assert_true(is("d/.freefloat.new/thesis.tex", "years"));
}

static void count_entry(void *user, const ff_run_entry *entry) {
    (void)entry;
    ++*(int *)user;
}

/* Links in a folder of ours, in the place of folders that a switch uses: nothing is moved or written through
 * them, with --force neither. */
static void test_nothing_goes_through_a_link(void **state) {
    (void)state;
    static const char *const name[] = {"d/.freefloat.new", "d/.freefloat.former", "d/tdpa"};
    ff_run_wanted w = wanted("d");
    assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
    assert_int_equal(
        make(&(ff_run_wanted){.name = "case", .command = "run", .out = "victim"}, "kept", "log.csv", true),
        FF_DONE); /* a complete run, as a switch that was cut short would leave it */
    for (size_t i = 0; i < 2 * (sizeof name / sizeof *name); i++) {
        const bool below =
            i % 3 == 2; /* not known before: a run whose results lie there is complete, and not shown */
        w.force = i > 2;
        assert_int_equal(symlink("../victim", name[i % 3]), 0);
        ff_notes_clear(&notes);
        assert_int_equal(make(&w, "two", below ? "tdpa/log.csv" : "log.csv", true),
                         below ? FF_FAILED : FF_REFUSED);
        assert_line(notes.error, below ? w.force ? "a link stands where a folder of results belongs"
                                                 : "it is complete in d/.freefloat.new"
                                       : "is a link, through which");
        assert_true(is("d/summary.json", "one") && is("victim/summary.json", "kept"));
        assert_true(exists("victim/manifest.json") && exists("victim/log.csv") && exists("d/manifest.json"));
        assert_int_equal(unlink(name[i % 3]), 0);
        ff__run_remove("d/.freefloat.new", false);
    }
    assert_int_equal(ff_folder_make("far"), FF_OK);
    w.force = false;
    ff_notes_clear(&notes);
    assert_int_equal(make(&w, "two", "tdpa/log.csv", true), FF_DONE);
    assert_int_equal(rename("d/tdpa", "far/tdpa"), 0);
    assert_int_equal(symlink("../far/tdpa", "d/tdpa"), 0);
    assert_int_equal(make(&w, "three", "tdpa/log.csv", true), FF_REFUSED); /* now it is known before */
    assert_line(notes.error, "d: its tdpa is a link");
    assert_true(is("far/tdpa/log.csv", "two"));
}

/* A folder that cannot be read is said: what is in it is neither nothing nor cut off. */
static void test_what_cannot_be_read_is_said(void **state) {
    (void)state;
    ff_run_wanted w = wanted(NULL);
    char path[FF_FILE_PATH];
    int removed = 0;
    const ff_runs_prune_config config = {.incomplete = true, .removed = count_entry, .user = &removed};
    assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
    assert_int_equal(make(&w, "two", "log.csv", true), FF_DONE);
    ff_run_list list;
    assert_int_equal(ff_runs_list("case", &list), FF_OK);
    assert_int_equal(list.count, 2);
    assert_true(ff__run_join(path, list.entry[0].path, FF_RUN_MANIFEST));
    ff_runs_free(&list);
    /* a manifest that gives an error which is not "there is none": a socket */
    assert_int_equal(rename(path, "aside"), 0);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "socket");
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(rename("socket", path), 0);
    assert_int_equal(ff_runs_list("case", &list), FF_OK);
    assert_string_equal(list.entry[0].state, "unreadable");
    assert_string_equal(list.entry[1].state, "complete");
    ff_runs_free(&list);
    assert_int_equal(ff_runs_prune(&config), FF_OK);
    assert_int_equal(removed, 0);
    assert_int_equal(rename("aside", path), 0);
    close(fd);
    assert_int_equal(ff_runs_prune(&config), FF_OK);
    assert_int_equal(removed, 1);
    assert_false(ff_runs_find("nowhere", path));
    assert_int_equal(errno, ENOENT);
    /* names that lead in a circle can be read by nobody */
    assert_int_equal(rename("out/.runs", "kept"), 0);
    assert_int_equal(symlink(".runs", "out/.runs"), 0);
    assert_int_equal(ff_runs_list(NULL, &list), FF_ERR_IO);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(ff_runs_prune(&config), FF_ERR_IO);
    assert_false(ff_runs_find("nowhere", path));
    assert_int_equal(errno, ELOOP);
}

static char kept[FF_FILE_PATH];

static void take_kept(void *user, const ff_run_entry *entry, const char *file) {
    (void)user;
    (void)entry;
    snprintf(kept, sizeof kept, "%s", file);
}

/* Files that a run did not write keep it, by the file's name, and folders that are no runs; forced, all goes.
 */
static void test_prune_keeps_what_is_not_of_the_run(void **state) {
    (void)state;
    static const struct {
        const char *folder, *file, *says;
        bool whole;
    } cases[] = {
        {"", "notes.txt", "notes.txt", true},
        {"/mine", "log.csv", "mine/log.csv", true},
        {"/mine", ".hidden", "mine/.hidden", false},
        {"", "log.mcap", NULL, false}}; /* a name that we give: of what was cut off nothing is listed */
    const ff_run_wanted w = wanted(NULL);
    int removed = 0;
    ff_runs_prune_config config = {
        .incomplete = true, .removed = count_entry, .kept = take_kept, .user = &removed};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[FF_FILE_PATH];
        assert_int_equal(make(&w, "old", "log.csv", cases[i].whole), cases[i].whole ? FF_DONE : FF_FAILED);
        ff_run_list list;
        assert_int_equal(ff_runs_list("case", &list), FF_OK);
        snprintf(folder, sizeof folder, "%.4000s%s", list.entry[list.count - 1].path, cases[i].folder);
        ff_runs_free(&list);
        assert_int_equal(ff_folder_make(folder), FF_OK);
        put(folder, cases[i].file, "mine");
        assert_int_equal(make(&w, "new", "log.csv", true), FF_DONE);
        for (int force = 0; force < 2; force++) {
            *kept = 0;
            removed = 0;
            config.force = force;
            assert_int_equal(ff_runs_prune(&config), FF_OK);
            assert_string_equal(kept, !force && cases[i].says ? cases[i].says : "");
            assert_int_equal(exists(folder), !force && cases[i].says);
        }
    }
    assert_int_equal(ff_folder_make("out/.runs/case/thesis"), FF_OK);
    config.force = false;
    assert_int_equal(ff_runs_prune(&config), FF_OK);
    assert_string_equal(kept, "folder without manifest.json");
    assert_true(exists("out/.runs/case/thesis"));
}

/* Names that only differ in letters that a folder does not take. */
static void test_names_that_share_a_folder_are_refused(void **state) {
    (void)state;
    ff_run_wanted w = wanted(NULL);
    w.name = "a/b";
    for (int i = 0; i < 2; i++)
        assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
    w.name = "a_b";
    assert_int_equal(make(&w, "two", "log.csv", true), FF_REFUSED);
    assert_line(notes.error, "out/a_b: shows runs of 'a/b'");
    assert_true(is("out/a_b/summary.json", "one"));
}

/* A run of the same key continues what was begun, takes over what is complete, and refuses another by the
 * name of the file that changed. */
static void test_same_key_continues(void **state) {
    (void)state;
    ff_run_inputs inputs = {0};
    put_file("arm.urdf", "old arm");
    ff_run_inputs_add(&inputs, "model", "arm.urdf", NULL);
    ff_run_inputs_add(&inputs, "model", "arm.urdf", "listed once");
    ff_run_inputs_add(&inputs, "scenario", "/dev/stdin", NULL); /* cannot be read again */
    assert_int_equal(inputs.count, 2);
    static const char *const out[] = {NULL, "d"};
    for (int i = 0; i < 2; i++) {
        ff_run_wanted w = wanted(out[i]);
        w.key = "one";
        w.inputs = &inputs;
        ff_run_folder run;
        assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
        assert_false(run.resumed);
        put(run.path, "results.journal", "half");
        assert_int_equal(ff_run_finish(&run, &(ff_run_end){.stopped = true}, &notes), FF_FAILED);
        char first[FF_FILE_PATH];
        memcpy(first, run.path, sizeof first);
        put_file("arm.urdf", "new arm"); /* changed in between */
        ff_run_inputs now = {0};
        ff_run_inputs_add(&now, "model", "arm.urdf", NULL);
        ff_run_inputs_add(&now, "scenario", "/dev/stdin", NULL);
        w.key = "two";
        w.inputs = &now;
        ff_notes_clear(&notes);
        assert_int_equal(ff_run_begin(&w, &run, &notes), FF_REFUSED);
        assert_line(notes.error, "another campaign: arm.urdf is not the file that it was begun with");
        put_file("arm.urdf", "old arm");
        w.key = "one";
        w.inputs = &inputs;
        assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
        assert_true(run.resumed);
        assert_string_equal(run.path, first);
        assert_int_equal(ff_run_finish(&run, &(ff_run_end){.whole = true}, &notes), FF_DONE);
        assert_int_equal(ff_run_begin(&w, &run, &notes), FF_DONE);
        if (i == 0)
            assert_string_equal(run.former, first); /* complete: a new one takes over */
        else
            assert_true(run.resumed);
        ff_run_abandon(&run);
        assert_true(exists(first));
        ff_run_inputs_free(&now);
    }
    ff_run_inputs_free(&inputs);
}

/* A run of a time when the clock was wrong: the next one comes behind it, is the newest to prune and list,
 * and says itself when it began; names that are not IDs change nothing. */
static void test_order_holds_when_the_clock_is_set_back(void **state) {
    (void)state;
    const ff_run_wanted w = wanted(NULL);
    static const char *const there[] = {"29991231-235959-999",
                                        "39991231-235959-9990",
                                        "39991331-235959-999",
                                        "39990229-000000-000",
                                        "4000",
                                        "zzz"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        char path[128];
        snprintf(path, sizeof path, "out/.runs/case/%s", there[i]);
        assert_int_equal(ff_folder_make(path), FF_OK);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(make(&w, "new", "log.csv", true), FF_DONE);
    char target[64] = "";
    assert_true(readlink("out/case", target, sizeof target - 1) > 0);
    assert_string_equal(target, ".runs/case/30000101-000000-001");
    ff_manifest m;
    assert_int_equal(ff_manifest_read("out/case", &m), FF_OK);
    assert_string_equal(ff_manifest_text(&m, "id"), "30000101-000000-001");
    assert_true(strcmp(ff_manifest_text(&m, "started"), "2999") < 0);
    ff_manifest_free(&m);
    ff_run_list list;
    assert_int_equal(ff_runs_list("case", &list), FF_OK);
    const char *complete[4] = {NULL};
    int n = 0;
    for (int i = 0; i < list.count; i++)
        if (strcmp(list.entry[i].state, "complete") == 0)
            complete[n++] = list.entry[i].id;
    assert_int_equal(n, 2);
    assert_string_equal(complete[0], "30000101-000000-000");
    assert_string_equal(complete[1], "30000101-000000-001");
    ff_runs_free(&list);
}

/* Names and words that are not text are written so that the manifest can be read; damaged ones are refused.
 */
static void test_manifest_is_always_readable(void **state) {
    (void)state;
    char *words[] = {"a\x80z", "tab\tline\n", "\x7f", "\xc3\xa9", "\xed\xa0\x80", "\"quoted\\"};
    const ff_run_program program = {.argc = 6, .argv = words, .commit = "1234"};
    ff_run_wanted w = wanted("d");
    w.program = &program;
    assert_int_equal(make(&w, "one", "log.csv", true), FF_DONE);
    ff_manifest m;
    assert_int_equal(ff_manifest_read("d", &m), FF_OK);
    ff_manifest_free(&m);
    char *text = get_file("d/manifest.json");
    assert_non_null(strstr(text, "\"a?z\"")); /* and the letter that is text as it is */
    assert_non_null(strstr(text, "\"\xc3\xa9\""));
    free(text);
    static const char *const bad[] = {"",          "{", "[]", "{\"freefloat\": 2}", "{\"freefloat\": {}}",
                                      "{\"a\": 1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put("d", "manifest.json", bad[i]);
        assert_int_equal(ff_manifest_read("d", &m), FF_ERR_FORMAT);
    }
    assert_int_equal(ff_manifest_read("nowhere", &m), FF_ERR_IO);
}

/* No bit of a manifest is free; what it lacks, and what is a link, is named. */
static void test_verify_misses_nothing(void **state) {
    (void)state;
    char said[FF_FILE_PATH], hash[FF_SHA256_TEXT];
    const ff_run_wanted w = wanted("d");
    assert_int_equal(make(&w, "{verdict: pass}", "log.csv", true), FF_DONE);
    assert_true(verifies(said));
    char *text = get_file("d/manifest.json");
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        text[i] = (char)(text[i] ^ 1 << i % 7);
        put("d", "manifest.json", text);
        if (text[i] && verifies(said))
            fail_msg("byte %zu", i);
        text[i] = (char)(text[i] ^ 1 << i % 7);
    }
    const char *end = strstr(text, "  \"results\"");
    static const char *const bad[] = {"null", "[]", "{}", "1", "{\"log.csv\": \"0\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char whole[8192], sealed[FF_FILE_PATH];
        snprintf(whole, sizeof whole, "%.*s  \"results\": %s", (int)(end - text), text, bad[i]);
        ff_sha256(whole, strlen(whole), hash);
        snprintf(sealed, sizeof sealed, "%.4000s,\n  \"sha256\": \"%s\"\n}\n", whole, hash);
        put("d", "manifest.json", sealed);
        assert_false(verifies(said));
        assert_non_null(strstr(said, "its results have no summary.json"));
    }
    put("d", "manifest.json", text);
    assert_true(verifies(said));
    put("d", "summary.json", "{verdict: fail}");
    assert_false(verifies(said));
    assert_non_null(strstr(said, "run verdict: pass, fail"));
    put("d", "summary.json", "{verdict: pass}");
    put(".", "elsewhere", "{verdict: pass}"); /* the same bytes, behind a link */
    assert_int_equal(unlink("d/log.csv") | symlink("../elsewhere", "d/log.csv"), 0);
    assert_false(verifies(said));
    assert_non_null(strstr(said, "a link, which is not followed"));
    put(".", "elsewhere", text);
    assert_int_equal(unlink("d/manifest.json") | symlink("../elsewhere", "d/manifest.json"), 0);
    assert_false(verifies(said));
    assert_non_null(strstr(said, "manifest.json is a link"));
    free(text);
}

/* Two runs are compared as they are now, not as they were recorded. */
static void test_diff_looks_at_what_is_there(void **state) {
    (void)state;
    static const char *const now[] = {"x: 1", "x: 2", NULL};
    ff_run_wanted w = wanted("d");
    assert_int_equal(make(&w, "x: 1", "log.csv", true), FF_DONE);
    w.out = "out";
    assert_int_equal(make(&w, "x: 1", "log.csv", true), FF_DONE);
    for (size_t i = 0; i < sizeof now / sizeof *now; i++) {
        if (now[i])
            put("out", "summary.json", now[i]);
        else
            assert_int_equal(unlink("out/summary.json"), 0);
        findings = 0;
        assert_int_equal(ff_runs_diff("d", "out", count_finding, NULL), FF_OK);
        assert_int_equal(findings, i ? 3 : 0); /* is not what was written; and differs, in a value */
        findings = 0;
        assert_int_equal(ff_runs_diff("out", "out", count_finding, NULL), FF_OK);
        assert_int_equal(findings, i ? 1 : 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_verify_misses_nothing, clean),
        cmocka_unit_test_setup(test_prune_keeps_what_is_not_of_the_run, clean),
        cmocka_unit_test_setup(test_names_that_share_a_folder_are_refused, clean),
        cmocka_unit_test_setup(test_failed_switch_is_undone, clean),
        cmocka_unit_test_setup(test_given_folder_that_is_kept, clean),
        cmocka_unit_test_setup(test_diff_looks_at_what_is_there, clean),
        cmocka_unit_test_setup(test_names_do_not_lead_out, clean),
        cmocka_unit_test_setup(test_link_shows_complete_runs_only, clean),
        cmocka_unit_test_setup(test_what_stands_in_the_place_of_the_link, clean),
        cmocka_unit_test_setup(test_given_folder, clean),
        cmocka_unit_test_setup(test_given_folder_of_others, clean),
        cmocka_unit_test_setup(test_nothing_goes_through_a_link, clean),
        cmocka_unit_test_setup(test_what_cannot_be_read_is_said, clean),
        cmocka_unit_test_setup(test_one_writer_at_a_time, clean),
        cmocka_unit_test_setup(test_cut_switch_is_completed, clean),
        cmocka_unit_test_setup(test_same_key_continues, clean),
        cmocka_unit_test_setup(test_order_holds_when_the_clock_is_set_back, clean),
        cmocka_unit_test_setup(test_manifest_is_always_readable, clean),
    };
    return cmocka_run_group_tests(tests, enter, remove_folder);
}
