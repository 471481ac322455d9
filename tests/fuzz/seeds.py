#!/usr/bin/env python3
"""seeds.py KIND FOLDER SEED...: variants of a parser's inputs, each with one thing wrong or out of the ordinary, for the corpus. KIND: yaml
(scenario, campaign), xml (URDF, RSI, the sensor's page). Those that reach something new are picked by
   build-fuzz/tests/fuzz/fuzz_NAME -merge=1 -use_counters=0 tests/fuzz/corpus/NAME FOLDER"""
import copy, hashlib, os, re, sys

VALUES = [None, [], {}, "x", "", -1, 0, 1e-300, 1e300, "1e999", "nan", True, [1], [0, 0, 0], [0, 0, 0, 0], [1, 2, 3, 4, 5, 6], {"kind": "x"}, "x" * 300]


def places(node, path=()):
    yield path
    for key, below in (node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()):
        yield from places(below, path + (key,))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def yaml_variants(text):
    import yaml
    tail = text.split("\n=== ", 1)
    root = yaml.safe_load(tail[0])
    rest = "\n=== " + tail[1] if len(tail) > 1 else ""
    dump = lambda node: yaml.safe_dump(node, default_flow_style=None, width=200, sort_keys=False) + rest
    for path in list(places(root)):
        if not path:
            continue
        for value in VALUES:
            new = copy.deepcopy(root)
            at(new, path[:-1])[path[-1]] = value
            yield dump(new)
        new = copy.deepcopy(root)
        del at(new, path[:-1])[path[-1]]
        yield dump(new)
        if isinstance(at(root, path), dict):
            new = copy.deepcopy(root)
            at(new, path)["unknown_key"] = 1
            yield dump(new)
        yield "#%s=%s\n" % (".".join(map(str, path)), "7") + text
        yield "#%s={}\n" % ".".join(map(str, path)) + text
    yield "#all\n" + text


def xml_variants(text):
    tags = [m.span() for m in re.finditer(r"<[^>]*>", text)]
    for a, b in tags:
        yield text[:a] + text[b:]
        yield text[:a] + text[a:b] * 2 + text[b:]
    for m in re.finditer(r'"([^"]*)"|>([^<>\s][^<>]*)<', text):
        a, b = m.span(1) if m.group(1) is not None else m.span(2)
        for value in ("", "x", "-1", "0", "1e999", "nan", "1 2", "1 2 3 4", "0 0 0", "9" * 40, "&lt;&#65;&amp;", "&", "1e-320", " 5 "):
            yield text[:a] + value + text[b:]
    for m in re.finditer(r'\s[\w:.-]+="[^"]*"', text):
        yield text[:m.start()] + text[m.end():]
    for n in range(0, len(text), max(1, len(text) // 40)):
        yield text[:n]


kind, folder = sys.argv[1:3]
os.makedirs(folder, exist_ok=True)
for path in sys.argv[3:]:
    text = open(path, errors="replace").read()
    for variant in [text] + list({"yaml": yaml_variants, "xml": xml_variants}[kind](text)):
        with open(os.path.join(folder, hashlib.sha1(variant.encode()).hexdigest()), "w") as f:
            f.write(variant)
