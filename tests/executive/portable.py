#!/usr/bin/env python3
"""portable.py ROOT,ROOT... FOLDER_OF_OBJECTS...: the cycle of a run and the virtual station need neither threads nor sockets nor
dlopen nor processes (they are built for the browser, too). Follows every undefined symbol, from the functions named
through the object files, and looks at what is left to the C library."""
import glob, re, subprocess, sys

ROOTS = sys.argv[1].split(",")
BANNED = re.compile(
    r"pthread_|thrd_|mtx_|sem_|socket|bind$|listen$|accept|connect$|send|recv|poll|select$|epoll|dlopen|dlsym|fork|exec[vl]|waitpid|"
    r"mmap|shm_|signal|sigaction|clock_nanosleep|nanosleep|usleep|sleep$|lws_|MPI_|CVode")


every = {}  # of each object: (defined, undefined)
for folder in sys.argv[2:]:
    paths = glob.glob(folder + "/**/*.o", recursive=True)
    for line in subprocess.run(["nm", "-A", *paths], capture_output=True, text=True, check=True).stdout.splitlines():
        path, _, rest = line.partition(":")
        kind, symbol = rest.split()[-2:]
        every.setdefault(path[len(folder) + 1:], (set(), set()))[kind in "Uw"].add(symbol.split("@")[0])
home = {s: name for name, (defined, _) in every.items() for s in defined if s.startswith("ff_")}
missing = [r for r in ROOTS if r not in home]
if missing:
    sys.exit("not found: " + ", ".join(missing))
why, queue, outside = {}, [], {}
for root in ROOTS:
    queue.append((home[root], root))
while queue:
    name, reason = queue.pop()
    if name in why:
        continue
    why[name] = reason
    for symbol in every[name][1]:
        if symbol in home:
            queue.append((home[symbol], "%s (needed by %s)" % (symbol, name)))
        else:
            outside.setdefault(symbol, name)
bad = sorted(s for s in outside if BANNED.search(s))
for symbol in bad:
    name, chain = outside[symbol], []
    while name and len(chain) < 8:
        chain.append(name)
        m = re.search(r"needed by (.*)\)$", why[name])
        name = m.group(1) if m else None
    print("banned: %s in %s" % (symbol, " <- ".join(chain)))
print("%d files, %d symbols of the C library, %d banned" % (len(why), len(outside), len(bad)))
sys.exit(bool(bad))
