#!/usr/bin/env bash
# RSI as a laboratory has it: own names and elements on the wire, limits that are configured, kept and read back, and the controller's files.
set -u
. "$FF_SOURCE_DIR/tests/rt/pair.sh"
need python3
S=$FF_SOURCE_DIR/scenarios/wall.yaml
place="kind: kuka-rsi, delay: 0.016, base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}"
names="sentype: KROSHU, axes_tag: AKorr, stop_tag: Halt, eipos: off"
client() { # the controller's keys, a name, the scenario's, options of rt
  facility_options=(--set "satellites.body.robot={$place, $1}"); pair "$2" --lockstep "$S" --set time.duration=0.4 --set "satellites.body.robot={$place, $3}" --silence "${4:-20}"
}

client "$names, clip_deg: 20" named "$names, clip_deg: 20"
{ [ $got -eq 0 ] && grep -q "0 late, 0 too late, 0 clipped, 0 malformed" named.facility; } || fail "own names: exit $got: $(cat named.rt named.facility)"
# a controller that waits for another Type says so, and nothing moves
client "sentype: KROSHU" typed "sentype: ImFree" 1
{ [ $got -eq 1 ] && grep -qx "body: answers are refused: their Type is 'ImFree', SENTYPE is 'KROSHU'" typed.facility; } || fail "Type: exit $got: $(cat typed.rt typed.facility)"
! grep -q "APPROACH\|FLOAT" typed.rt || fail "it moved: $(cat typed.rt)"
# limits: another one on the controller, and one that the motion would reach
client "clip_deg: 5" other "clip_deg: 30"
{ [ $got -eq 1 ] && grep -q "CORRECTION.*5.*30" other.rt; } || fail "another limit: exit $got: $(cat other.rt)"
client "clip_deg: 0.2" reached "clip_deg: 0.2"
{ [ $got -eq 1 ] && grep -q "CLIPPED" reached.rt && grep -q " 0 clipped, 0 malformed" reached.facility; } || fail "limit: exit $got: $(cat reached.rt reached.facility)"
client "clip_deg: 0.2" told "" # read from the telegram alone
{ [ $got -eq 1 ] && grep -q "CLIPPED" told.rt && grep -q " 0 clipped, 0 malformed" told.facility; } || fail "limit of the telegram: exit $got: $(cat told.rt told.facility)"
# bad keys
for bad in "axes_tag: IPOC" "sentype: a name" "axes_tag: RKorr" "sentype: $(printf 'x%.0s' $(seq 24))" "rail: {axis: [0, 1, 0], length: 6, speed: 1}, eipos: off" "clip_deg: 0"; do
  "$FREEFLOAT" check "$S" --set "satellites.body.robot={$place, $bad}" > bad.txt 2>&1 && fail "$bad was taken"
  [ "$(wc -l < bad.txt)" -eq 1 ] || fail "$bad: $(cat bad.txt)"
done

# the files: three formats of one list of objects
files() { "$FREEFLOAT" facility "$S" --quiet --set "satellites.body.robot={$place, address: 10.1.2.3, $1}" --controller-files "$2" || fail "files of $1"; }
files "clip_deg: 20" axes
files "channel: cartesian, clip_deg: 3, clip_mm: 40, corrections: relative" pose
files "heartbeat: on, $names" watch
files "rail: {axis: [0, 1, 0], length: 6, speed: 1}" rail
python3 - << 'P' || fail "the controller's files"
import re, xml.etree.ElementTree as E
def local(tag): return tag.split("}")[-1]
def rsi3(folder):
    """RSI 3: {object: (type number, inputs [(object, output from 0)], {parameter: value})}"""
    objects = {}
    for o in E.parse(f"{folder}/rsi3/freefloat_rsi.rsi.xml").getroot():
        wires = [(int(i.get("InIdx")) - 1, i.get("OutObjID"), int(i.get("OutIdx")) - 1) for i in o.iter("Input")]
        assert [w[0] for w in wires] == list(range(len(wires)))
        ids = [(p.get("ParamID"), p.get("IsRuntime")) for p in o.iter("Parameter")]
        assert len(set(ids)) == len(ids), o.get("ObjID")
        objects[o.get("ObjID")] = (int(o.get("ObjTypeID")), [w[1:] for w in wires], {p.get("Name"): p.get("ParamValue") for p in o.iter("Parameter")})
    return objects
def rsi45(folder):
    root = E.parse(f"{folder}/rsi4-5/freefloat_rsi.rsix").getroot()
    assert root.tag == "{RsiContext}RsiContext" and root.get("SchemaVersion") == "2.0.0"
    objects = {}
    for o in root.iter("{RsiDriver}RsiObject"):
        wires = [(int(i.get("InIdx")), i.get("OutObjId"), int(i.get("OutIdx"))) for i in o.iter("{RsiDriver}Input")]
        assert [w[0] for w in wires] == list(range(len(wires)))
        objects[o.get("ObjId")] = (int(o.get("ObjTypeId")), [w[1:] for w in wires], {p.get("Name"): p.get("ParamValue") for p in o.iter("{RsiDriver}Parameter")})
    drawn = {c.get("Name"): [(i.get("SourceObject"), i.get("SourcePort")) for i in c.iter("{RsiConstruct}Input")] for c in root.iter("{RsiConstruct}Construct")}
    assert set(drawn) == set(objects)
    for name, inputs in drawn.items():
        assert [s for s, _ in inputs] == [s for s, _ in objects[name][1]]
    return objects
def visual(folder):
    ns, objects = "{http://schemas.microsoft.com/dsltools/RSIVisual}", {}
    for o in E.parse(f"{folder}/rsi3/freefloat_rsi.rsi").getroot().iter(ns + "rSIElement"):
        objects[o.get("name")] = [m.get("name") for m in o.iter(ns + "rSIOutPortMoniker")], [p.get("name") for p in o.iter(ns + "rSIOutPort")]
    return objects
plain = lambda name: re.sub(r"_(?=\d+$)", "", name).upper()
number = lambda text: float(text) if re.fullmatch(r"-?[\d.]+", text) else text
for folder in ("axes", "pose", "watch", "rail"):
    a, b, v = rsi3(folder), rsi45(folder), visual(folder)
    assert set(a) == {plain(n) for n in b} == set(v), (set(a), set(b))
    for name, (kind, wires, values) in b.items():
        other = a[plain(name)]
        assert other[0] == kind and other[1] == [(plain(o), n) for o, n in wires]
        assert {k: number(x) for k, x in other[2].items()} == {k: number(x) for k, x in values.items()}
        assert [f"//{plain(o)}/{v[plain(o)][1][n]}" for o, n in wires] == v[plain(name)][0]
    shapes = E.parse(f"{folder}/rsi3/freefloat_rsi.rsi.diagram").getroot()
    ids = [s.get("Id") for s in shapes.iter() if local(s.tag).endswith("Shape")]
    assert len(set(ids)) == len(ids) and {m.get("Id") for m in shapes.iter() if local(m.tag).endswith("PortShapeMoniker")} <= set(ids)
    # every channel of the Ethernet object once, wired as its file says
    root = E.parse(f"{folder}/freefloat_rsi.xml").getroot()
    send, receive = ([(e.get("TAG"), e.get("INDX"), e.get("HOLDON")) for e in root.find(f"{way}/ELEMENTS")] for way in ("SEND", "RECEIVE"))
    channels = [int(n) for _, n, _ in receive if n != "INTERNAL"]
    assert channels == list(range(1, len(channels) + 1))
    used = sorted(n + 1 for _, wires, _ in a.values() for o, n in wires if o == "ETHERNET1")
    assert used == channels, (used, channels)
    assert len([1 for _, n, _ in send if n != "INTERNAL"]) == len(a["ETHERNET1"][1])
    assert root.find("CONFIG/IP_NUMBER").text == "10.1.2.3" and root.find("CONFIG/PORT").text == "59152"
    for version in ("rsi3", "rsi4-5"):
        src = open(f"{folder}/{version}/freefloat.src").read()
        lines = [l.split(";")[0].strip() for l in src.splitlines()]
        calls = [n for n, l in enumerate(lines) if re.match(r"ret = RSI_", l)]
        ends = lines.index("DEF freefloat_end()")
        for n in calls: # each is looked at, but those of the end itself
            assert n > ends or any(l in ("freefloat_check()", "freefloat_took()") for l in lines[n + 1:n + 3]), lines[n]
        assert src.count("RSI_DELETE(id)") == 2 and "$BASE = $ROBROOT" in src and ('_rsi.rsi"' in src) == (version == "rsi3")
        assert "$TOOL = {X 0.0000, Y 0.0000, Z 0.0000, A " in src
        objects = a if version == "rsi3" else b
        for obj, par in re.findall(r'RSI_GETPUBLICPAR\(id, "(\w+)", "(\w+)"', src):
            assert par in objects[obj][2], (obj, par)
        for word, close in (("DEF ", "END"), ("IF ", "ENDIF"), ("LOOP", "ENDLOOP")):
            assert sum(l.startswith(word) for l in lines) == lines.count(close)
holds = lambda folder: {e.get("TAG"): e.get("HOLDON") for e in E.parse(f"{folder}/freefloat_rsi.xml").getroot().find("RECEIVE/ELEMENTS")}
assert holds("axes")["AK.A1"] == "1" and holds("axes")["Stop"] == "0" and holds("pose")["RKorr.C"] == "0" and holds("rail")["EK.E1"] == "1"
assert holds("watch")["AKorr.A6"] == "1" and holds("watch")["Halt"] == "0" and "Life.B" in holds("watch")
tags = [e.get("TAG") for e in E.parse("watch/freefloat_rsi.xml").getroot().find("SEND/ELEMENTS")]
assert tags == ["DEF_RIst", "DEF_RSol", "DEF_AIPos", "DEF_ASPos", "DEF_Delay", "Lim.R", "Lim.T", "Krc.Mode", "Krc.Ovr"], tags
limits = rsi3("axes")
assert limits["AXISCORR1"][2]["LowerLimA3"] == "-20.000" and limits["AXISCORRMON1"][2]["MaxA6"] == "24.000"
limits = rsi45("pose")
assert limits["PosCorr_1"][2]["UpperLimZ"] == "40" and limits["PosCorr_1"][2]["MaxRotAngle"] == "3" and limits["PosCorrMon_1"][2]["MaxTrans"] == "48"
assert rsi45("rail")["AxisCorrExt_1"][2]["UpperLimE1"] == "6000" and rsi45("rail")["AxisCorrMon_1"][2]["MaxE1"] == "7200"
assert rsi3("watch")["AXISCORR1"][2]["UpperLimA1"] == "5.000" and "INTERRUPT ON 17" in open("watch/rsi3/freefloat.src").read()
P
# the shipped example is what it writes
"$FREEFLOAT" facility "$S" --quiet --set 'satellites.body.robot={kind: kuka-rsi, delay: 0.040, address: 192.168.1.10, heartbeat: on, base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}}' --controller-files example
diff -r example "$FF_SOURCE_DIR/examples/kuka-rsi" > differs.txt || fail "examples/kuka-rsi is not what facility --controller-files writes: $(head -5 differs.txt)"
"$FREEFLOAT" facility "$S" --controller-files none > none.txt 2>&1 && fail "files without a controller"
grep -qx "freefloat facility: the scenario names no robot of kind kuka-rsi, whose controller needs files" none.txt || fail "$(cat none.txt)"
exit $((failures > 0))
