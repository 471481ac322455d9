#!/usr/bin/env python3
"""portable.py ROOT,ROOT... HOST OBJECTS: the cycle of a run and the virtual station need neither threads nor sockets nor dlopen nor
processes (they are built for the browser, too). Follows every undefined symbol, from the functions named, through the files of HOST
(compiled one by one as they are needed, whatever the build compiles together) and the object files below OBJECTS, and looks at what is
left to the C library."""
import concurrent.futures, glob, os, re, shlex, subprocess, sys, tempfile

ROOTS, HOST, OBJECTS = sys.argv[1].split(","), sys.argv[2], sys.argv[3]
BANNED = re.compile(
    r"pthread_|thrd_|mtx_|sem_|socket|bind$|listen$|accept|connect$|send|recv|poll|select$|epoll|dlopen|dlsym|fork|exec[vl]|waitpid|"
    r"mmap|shm_|signal|sigaction|clock_nanosleep|nanosleep|usleep|sleep$|lws_|MPI_|CVode")
COMPILER = shlex.split(os.environ.get("CC", "cc")) + ["-std=c11", "-D_GNU_SOURCE", "-DFF_LIBDIR=\"lib\"", "-O0", "-w", "-c", "-I" + HOST,
                                                       "-I" + os.path.join(os.path.dirname(HOST), "lib/include")]


def symbols(paths):
    """Of each object: (defined, undefined)."""
    found = {}
    for line in subprocess.run(["nm", "-A", *paths], capture_output=True, text=True, check=True).stdout.splitlines():
        path, _, rest = line.partition(":")
        kind, symbol = rest.split()[-2:]
        found.setdefault(path, (set(), set()))[kind in "Uw"].add(symbol.split("@")[0])
    return found


def compiled(source, folder):
    to = os.path.join(folder, os.path.relpath(source, HOST).replace("/", "-") + ".o")
    subprocess.run(COMPILER + [source, "-o", to], check=True)
    return symbols([to])[to]


every = symbols(glob.glob(OBJECTS + "/**/*.o", recursive=True))
home = {s: name for name, (defined, _) in every.items() for s in defined if s.startswith("ff_")}
for source in glob.glob(HOST + "/**/*.c", recursive=True):  # a definition begins its line and is not indented
    for line in re.findall(r"^(?!static|extern|typedef|#)\w[^;{=]*?\b(ff_\w+)\s*[(\[=]", open(source).read(), re.M):
        home.setdefault(line, source)
missing = [r for r in ROOTS if r not in home]
if missing:
    sys.exit("not found: " + ", ".join(missing))
why, outside, wanted = {}, {}, {home[r]: r for r in ROOTS}
with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
    while wanted:
        todo = [s for s in wanted if s not in every]
        every.update(zip(todo, pool.map(lambda s: compiled(s, folder), todo)))
        why.update(wanted)
        found = {}
        for name in wanted:
            for symbol in every[name][1]:
                if symbol not in home:
                    outside.setdefault(symbol, name)
                elif home[symbol] not in why:
                    found[home[symbol]] = "%s (needed by %s)" % (symbol, name)
        wanted = found
stray = sorted(s for s in outside if s.startswith("ff_"))
bad = sorted(s for s in outside if BANNED.search(s))
for symbol in bad:
    name, chain = outside[symbol], []
    while name and len(chain) < 8:
        chain.append(os.path.relpath(name, HOST))
        m = re.search(r"needed by (.*)\)$", why[name])
        name = m.group(1) if m else None
    print("banned: %s in %s" % (symbol, " <- ".join(chain)))
if stray:
    print("defined nowhere: " + ", ".join(stray))
print("%d files, %d symbols of the C library, %d banned" % (len(why), len(outside), len(bad)))
sys.exit(bool(bad or stray))
