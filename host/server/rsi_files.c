/* The controller's files. One list of RSI objects with their wires and parameters; each format writes that
 * list: RSI 3 counts ports and parameters from 1, RSI 4 and 5 from 0, and names are spelt otherwise. */
#include "server/rsi_files.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { OBJECTS = 12, PORTS = 16, PARAMETERS = 24, NAME = 24 };

/* One parameter. Its number is counted apart in each format; in RSI 3 the limits of axes leave room for
 * external ones between lower and upper. */
typedef struct parameter {
    char name[NAME], value[NAME];
    const char *type, *least, *most; /* as RSIVisual has them */
    int id3, id4;
    const char *word; /* of an enumeration */
    bool fixed;       /* not at run time */
    bool open;        /* KRL may read and set it */
} parameter;

typedef struct object {
    const char *type3, *type4;
    int id;
    char name3[NAME], name4[NAME];
    int inputs, outputs, parameters;
    struct {
        char name[NAME];
        int from, port; /* object and output from 0; from < 0: none */
        bool logical;
    } in[PORTS];
    char out[PORTS][NAME];
    parameter parameter[PARAMETERS];
} object;

typedef struct context {
    int objects;
    object object[OBJECTS];
    int received, sent; /* channels of the Ethernet object in use */
    struct {
        char tag[2 * NAME];
        const char *type;
        bool holds;
    } receive[PORTS], send[PORTS];
} context;

/* -------------------------------------------------------------------------------------------------- list --
 */

static object *add(context *c, const char *type3, const char *type4, int id) {
    object *o = &c->object[c->objects++];
    int same = 1;
    for (int i = 0; i < c->objects - 1; i++)
        same += c->object[i].id == id;
    *o = (object){.type3 = type3, .type4 = type4, .id = id};
    snprintf(o->name3, sizeof o->name3, "%s%d", type3, same);
    snprintf(o->name4, sizeof o->name4, "%s_%d", type4, same);
    return o;
}

static void put_out(object *o, const char *name) {
    snprintf(o->out[o->outputs++], NAME, "%.23s", name);
}

static void put_in(object *o, const char *name, int from, int port) {
    snprintf(o->in[o->inputs].name, NAME, "%.23s", name);
    o->in[o->inputs].from = from;
    o->in[o->inputs++].port = port;
}

static parameter *put_parameter(object *o, const char *name, int id3, int id4) {
    parameter *p = &o->parameter[o->parameters++];
    *p = (parameter){
        .id3 = id3, .id4 = id4, .type = "System.Double", .least = "-2147483648", .most = "2147483647"};
    snprintf(p->name, sizeof p->name, "%.23s", name);
    return p;
}

static void put_real(object *o, const char *name, int id3, int id4, double value, bool bound) {
    parameter *p = put_parameter(o, name, id3, id4);
    snprintf(p->value, sizeof p->value, "%.3f", value);
    p->least = bound ? "0" : p->least;
    p->open = true;
}

static void put_whole(object *o, const char *name, int id3, int id4, int value, const char *least,
                      const char *most) {
    parameter *p = put_parameter(o, name, id3, id4);
    snprintf(p->value, sizeof p->value, "%d", value);
    p->type = "System.Int32";
    p->least = least;
    p->most = most;
}

static int receive(context *c, const char *tag, const char *type, bool holds) {
    snprintf(c->receive[c->received].tag, sizeof c->receive[0].tag, "%s", tag);
    c->receive[c->received].type = type;
    c->receive[c->received].holds = holds;
    return c->received++;
}

/* An element that the controller sends from an output of another object. */
static void send_from(context *c, const char *tag, const char *type, int from, int port) {
    char name[NAME];
    snprintf(c->send[c->sent].tag, sizeof c->send[0].tag, "%s", tag);
    c->send[c->sent++].type = type;
    snprintf(name, sizeof name, "In%d", c->sent);
    put_in(&c->object[0], name, from, port);
}

static double limit_of(double given, double usual) {
    return given > 0.0 && isfinite(given) ? given : usual;
}

static const char *const pose_word[6] = {"X", "Y", "Z", "A", "B", "C"};

static void correct_axes(context *c, const char *tag, double clip, bool holds) {
    object *o = add(c, "AXISCORR", "AxisCorr", 33);
    char name[2 * NAME];
    for (int a = 0; a < 6; a++) {
        snprintf(name, sizeof name, "%s.A%d", tag, a + 1);
        const int port = receive(c, name, "DOUBLE", holds);
        snprintf(name, sizeof name, "CorrA%d", a + 1);
        put_in(o, name, 0, port);
    }
    put_out(o, "Stat");
    for (int a = 0; a < 6; a++) {
        snprintf(name, sizeof name, "A%d", a + 1);
        put_out(o, name);
    }
    for (int side = 0; side < 2; side++)
        for (int a = 0; a < 6; a++) {
            snprintf(name, sizeof name, "%sLimA%d", side ? "Upper" : "Lower", a + 1);
            put_real(o, name, side ? 13 + a : 1 + a, side ? 6 + a : a, side ? clip : -clip, false);
        }
}

static void correct_pose(context *c, const char *tag, double clip_mm, double clip_deg, bool holds) {
    object *o = add(c, "POSCORR", "PosCorr", 27);
    char name[2 * NAME];
    for (int a = 0; a < 6; a++) {
        snprintf(name, sizeof name, "%s.%s", tag, pose_word[a]);
        const int port = receive(c, name, "DOUBLE", holds);
        snprintf(name, sizeof name, "Corr%s", pose_word[a]);
        put_in(o, name, 0, port);
    }
    put_out(o, "Stat");
    for (int a = 0; a < 6; a++)
        put_out(o, pose_word[a]);
    for (int side = 0; side < 2; side++)
        for (int a = 0; a < 3; a++) {
            snprintf(name, sizeof name, "%sLim%s", side ? "Upper" : "Lower", pose_word[a]);
            put_real(o, name, 3 * side + a + 1, 3 * side + a, side ? clip_mm : -clip_mm, false);
        }
    put_real(o, "MaxRotAngle", 7, 6, clip_deg, true);
    put_whole(o, "RefCorrSys", 1, 0, 1, "0", "4"); /* World Base RobRoot Tool TTS: $BASE is ROBROOT */
    o->parameter[o->parameters - 1].word = "Base";
    o->parameter[o->parameters - 1].fixed = true;
}

static void correct_rail(context *c, const char *tag, double clip, bool holds) {
    object *o = add(c, "AXISCORREXT", "AxisCorrExt", 87);
    char name[2 * NAME];
    snprintf(name, sizeof name, "%s.E1", tag);
    put_in(o, "CorrE1", 0, receive(c, name, "DOUBLE", holds));
    put_out(o, "Stat");
    put_out(o, "E1");
    put_real(o, "LowerLimE1", 1, 0, -clip, false);
    put_real(o, "UpperLimE1", 13, 6, clip, false);
}

static void monitor(context *c, bool cartesian, double deg, double mm, double rail) {
    object *o = cartesian ? add(c, "POSCORRMON", "PosCorrMon", 81) : add(c, "AXISCORRMON", "AxisCorrMon", 82);
    char name[NAME];
    for (int a = 0; a < (cartesian ? 6 : 12); a++) {
        snprintf(name, sizeof name, "%s%d", a < 6 ? "A" : "E", a % 6 + 1);
        put_out(o, cartesian ? pose_word[a] : name);
    }
    if (cartesian) {
        put_real(o, "MaxTrans", 1, 0, FF_RSI_MONITOR * mm, true);
        put_real(o, "MaxRotAngle", 2, 1, FF_RSI_MONITOR * deg, true);
    }
    for (int a = 0; !cartesian && a < 12; a++) {
        snprintf(name, sizeof name, "Max%s%d", a < 6 ? "A" : "E", a % 6 + 1);
        put_real(o, name, a + 1, a, FF_RSI_MONITOR * (a < 6 ? deg : a == 6 && rail > 0.0 ? rail : 5.0), true);
    }
}

/* What the controller says of itself, and its variables, as outputs. */
static int source(context *c, const char *type3, const char *type4, int id, const char *out) {
    put_out(add(c, type3, type4, id), out);
    return c->objects - 1;
}

static void to_variable(context *c, int index, int port) {
    object *o = add(c, "MAP2SEN_PINT", "Map2Sen_PInt", 16);
    put_in(o, "In1", 0, port);
    put_whole(o, "Index", 1, 0, index, "1", "128");
}

static void build(const ff_rsi_cell *cell, context *c) {
    const ff_device_settings *s = cell->settings;
    ff_rsi_names names;
    *c = (context){0};
    ff_rsi_names_of(s, &names);
    const double deg = limit_of(s->clip_deg, 5.0),
                 mm = limit_of(s->clip_mm, cell->rail > 0.0 ? cell->rail : 5.0);
    const bool holds = !s->increments;
    object *ethernet = add(c, "ETHERNET", "Ethernet", 64);
    parameter *file = put_parameter(ethernet, "ConfigFile", 1, 0);
    snprintf(file->value, sizeof file->value, "freefloat_rsi.xml");
    file->type = "System.FileName";
    file->fixed = true;
    put_whole(ethernet, "Timeout", 1, 0, 10, "0", "2147483647");
    put_whole(ethernet, "Flag", 4, 3, 1, "-1", "999");
    put_whole(ethernet, "Precision", 8, 7, 6, "1", "32");
    if (s->cartesian)
        correct_pose(c, names.cartesian, mm, deg, holds);
    else
        correct_axes(c, names.axes, deg, holds);
    const int stop_port = receive(c, names.stop, "BOOL", false);
    if (cell->rail > 0.0)
        correct_rail(c, names.external, mm, holds);
    monitor(c, s->cartesian, deg, mm, cell->rail > 0.0 ? mm : 0.0);
    object *stop = add(c, "STOP", "Stop", 18);
    put_in(stop, "In1", 0, stop_port);
    stop->in[0].logical = true;
    put_whole(stop, "Mode", 1, 0, 4, "0", "4");
    stop->parameter[0].word = "ExitMoveCorr";
    put_whole(stop, "Channel", 2, 1, 0, "0", "2147483647");
    for (int n = 0; n < 2; n++) { /* the limits, as the program has read them */
        const int from = source(c, "SEN_PREA", "Sen_PRea", 58, "Out1");
        put_whole(&c->object[from], "Index", 1, 0, n + 1, "1", "128");
        send_from(c, n ? "Lim.T" : "Lim.R", "DOUBLE", from, 0);
    }
    if (s->heartbeat) {
        to_variable(c, 1, receive(c, "Life.B", "LONG", true));
        to_variable(c, 2, receive(c, "Life.S", "LONG", true));
        const int mode = source(c, "STATUS", "Status", 62, "Stat");
        put_whole(&c->object[mode], "Type", 1, 0, 5, "0", "8");
        c->object[mode].parameter[0].word = "Mode_Op";
        send_from(c, "Krc.Mode", "LONG", mode, 0);
        send_from(c, "Krc.Ovr", "LONG", source(c, "OV_PRO", "OV_PRO", 63, "Out1"), 0);
    }
    char name[NAME];
    for (int n = 0; n < c->received; n++) {
        snprintf(name, sizeof name, "Out%d", n + 1);
        put_out(&c->object[0], name);
    }
}

/* ----------------------------------------------------------------------------------------------- formats --
 */

typedef struct page {
    char *text;
    size_t size, used;
} page;

static void put(page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(page *p, const char *format, ...) {
    va_list list;
    va_start(list, format);
    const bool room = p->text && p->used < p->size;
    const int length = vsnprintf(room ? p->text + p->used : NULL, room ? p->size - p->used : 0, format, list);
    va_end(list);
    p->used += length > 0 ? (size_t)length : 0;
}

static void put_notice(page *p, const ff_rsi_cell *cell) {
    put(p,
        "<!-- freefloat: %s. Never loaded on a controller: written from what public sources say of the "
        "format. "
        "Open it in RSIVisual, look at every wire and limit, and save it there. -->\n",
        cell->title);
}

/* RSI 3: what the controller reads. */
static void put_rsi_xml(page *p, const ff_rsi_cell *cell, const context *c) {
    put(p, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n");
    put_notice(p, cell);
    put(p,
        "<RSIObjects xsi:noNamespaceSchemaLocation=\"/Roboter/Config/System/Common/Schemes/RSIContext.xsd\" "
        "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n");
    for (int n = 0; n < c->objects; n++) {
        const object *o = &c->object[n];
        put(p, " <RSIObject ObjType=\"%s\" ObjTypeID=\"%d\" ObjID=\"%s\">\n", o->type3, o->id, o->name3);
        if (o->inputs)
            put(p, "  <Inputs>\n");
        for (int i = 0; i < o->inputs; i++)
            put(p, "   <Input InIdx=\"%d\" OutObjID=\"%s\" OutIdx=\"%d\"/>\n", i + 1,
                c->object[o->in[i].from].name3, o->in[i].port + 1);
        if (o->inputs)
            put(p, "  </Inputs>\n");
        if (o->parameters)
            put(p, "  <Parameters>\n");
        for (int i = 0; i < o->parameters; i++) {
            const parameter *q = &o->parameter[i];
            put(p, "   <Parameter Name=\"%s\" ParamID=\"%d\" ParamValue=\"%s\"%s%s/>\n", q->name, q->id3,
                q->value, q->fixed ? " IsRuntime=\"false\"" : "", q->open ? " IsPublic=\"true\"" : "");
        }
        if (o->parameters)
            put(p, "  </Parameters>\n");
        put(p, " </RSIObject>\n");
    }
    put(p, "</RSIObjects>\n");
}

/* RSI 3: what RSIVisual shows. */
static void put_rsi(page *p, const ff_rsi_cell *cell, const context *c) {
    put(p, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    put_notice(p, cell);
    put(p, "<rSIModel dslVersion=\"1.0.0.0\" name=\"\" "
           "xmlns=\"http://schemas.microsoft.com/dsltools/RSIVisual\">\n <rSIObjects>\n");
    for (int n = 0; n < c->objects; n++) {
        const object *o = &c->object[n];
        const int channels = n == 0 ? 64 : 0;
        put(p,
            "  <rSIElement name=\"%s\" objType=\"%s\" objTypeID=\"%d\" maxInputs=\"%d\" maxOutputs=\"%d\">\n",
            o->name3, o->type3, o->id, channels, channels);
        if (o->inputs)
            put(p, "   <rSIInPorts>\n");
        for (int i = 0; i < o->inputs; i++)
            put(p,
                "    <rSIInPort name=\"%s\"%s mandatory=\"%s\"><source><rSIOutPortMoniker "
                "name=\"//%s/%s\"/></source></rSIInPort>\n",
                o->in[i].name, o->in[i].logical ? " signalType=\"Bool\"" : "",
                o->in[i].logical ? "true" : "false", c->object[o->in[i].from].name3,
                c->object[o->in[i].from].out[o->in[i].port]);
        if (o->inputs)
            put(p, "   </rSIInPorts>\n");
        if (o->outputs)
            put(p, "   <rSIOutPorts>\n");
        for (int i = 0; i < o->outputs; i++)
            put(p, "    <rSIOutPort name=\"%s\"%s/>\n", o->out[i],
                strcmp(o->out[i], "Stat") == 0 ? " signalType=\"Int\"" : "");
        if (o->outputs)
            put(p, "   </rSIOutPorts>\n");
        if (o->parameters)
            put(p, "   <rSIParameters>\n");
        for (int i = 0; i < o->parameters; i++) {
            const parameter *q = &o->parameter[i];
            put(p,
                "    <rSIParameter name=\"%s\" value=\"%s\" paramType=\"%s\" minVal=\"%s\" maxVal=\"%s\" "
                "isEnum=\"%s\"%s%s index=\"%d\"/>\n",
                q->name, q->word ? q->word : q->value, q->type, q->least, q->most, q->word ? "true" : "false",
                q->fixed ? " isRuntime=\"false\"" : "", q->open ? " isPublic=\"true\"" : "", q->id3);
        }
        if (o->parameters)
            put(p, "   </rSIParameters>\n");
        put(p, "  </rSIElement>\n");
    }
    put(p, " </rSIObjects>\n</rSIModel>\n");
}

/* A shape's number: any that is used once. */
static void put_shape(page *p, const char *kind, int object_, int port, double x, double y, double wide,
                      double high, const char *moniker, const char *path) {
    put(p,
        "<%sShape Id=\"00000000-0000-4000-8000-%06d%06d\" absoluteBounds=\"%.3f, %.3f, %.3f, %.3f\" "
        "fillColor=\"White\"><%sMoniker name=\"%s\"/><relativeChildShapes/></%sShape>\n",
        kind, object_, port, x, y, wide, high, moniker, path, kind);
}

/* RSI 3: where RSIVisual draws the objects. The Ethernet object stands on the left, the others in two
 * columns. */
static void put_diagram(page *p, const ff_rsi_cell *cell, const context *c) {
    put(p, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    put_notice(p, cell);
    put(p,
        "<rSIObjectDiagram dslVersion=\"1.0.0.0\" absoluteBounds=\"0, 0, 16, 24\" name=\"freefloat_rsi\">\n"
        " <rSIModelMoniker name=\"/\"/>\n <nestedChildShapes>\n");
    double down[2] = {1.0, 1.0};
    for (int n = 0; n < c->objects; n++) {
        const object *o = &c->object[n];
        const int column = n == 0 || o->inputs == 0 ? 0 : 1;
        const double x = column ? 9.0 : 3.0, y = down[column],
                     high = 0.6 + 0.4 * (o->inputs > o->outputs ? o->inputs : o->outputs);
        char path[3 * NAME];
        down[column] += high + 0.8;
        put(p,
            "  <rSIElementShape Id=\"00000000-0000-4000-8000-%06d999999\" absoluteBounds=\"%.3f, %.3f, "
            "1.500, "
            "%.3f\" fillColor=\"BlanchedAlmond\">\n   <rSIElementMoniker name=\"//%s\"/>\n"
            "   <relativeChildShapes>\n",
            n, x, y, high, o->name3);
        for (int i = 0; i < o->inputs; i++) {
            snprintf(path, sizeof path, "//%s/%s", o->name3, o->in[i].name);
            put(p, "    ");
            put_shape(p, "rSIInPort", n, i, x - 0.4, y + 0.25 + 0.4 * i, 0.4, 0.075, "rSIInPort", path);
        }
        for (int i = 0; i < o->outputs; i++) {
            snprintf(path, sizeof path, "//%s/%s", o->name3, o->out[i]);
            put(p, "    ");
            put_shape(p, "rSIOutPort", n, 100 + i, x + 1.5, y + 0.25 + 0.4 * i, 0.4, 0.075, "rSIOutPort",
                      path);
        }
        put(p, "   </relativeChildShapes>\n  </rSIElementShape>\n");
    }
    for (int n = 0; n < c->objects; n++)
        for (int i = 0; i < c->object[n].inputs; i++)
            put(p,
                "  <rSISignalConnector fixedFrom=\"Caller\" fixedTo=\"Caller\"><nodes><rSIInPortShapeMoniker "
                "Id=\"00000000-0000-4000-8000-%06d%06d\"/><rSIOutPortShapeMoniker "
                "Id=\"00000000-0000-4000-8000-%06d%06d\"/></nodes></rSISignalConnector>\n",
                n, i, c->object[n].in[i].from, 100 + c->object[n].in[i].port);
    put(p, " </nestedChildShapes>\n</rSIObjectDiagram>\n");
}

/* A value as RSI 4 writes it: no zeros behind the point. */
static void trim(const char *value, char out[NAME]) {
    snprintf(out, NAME, "%s", value);
    char *point = strchr(out, '.');
    if (!point || strspn(point + 1, "0123456789") != strlen(point + 1))
        return;
    for (size_t end = strlen(out); end > 0 && (out[end - 1] == '0' || out[end - 1] == '.'); end--) {
        const bool last = out[end - 1] == '.';
        out[end - 1] = 0;
        if (last)
            return;
    }
}

/* RSI 4 and 5: one file, for the controller and for RSIVisual in WorkVisual. */
static void put_rsix(page *p, const ff_rsi_cell *cell, const context *c) {
    char value[NAME];
    put(p, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    put_notice(p, cell);
    put(p, "<RsiContext xsi:schemaLocation=\"RsiContext RsiContext.xsd\" SchemaVersion=\"2.0.0\" "
           "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns=\"RsiContext\">\n"
           " <RsiObjects xmlns=\"RsiDriver\">\n");
    for (int n = 0; n < c->objects; n++) {
        const object *o = &c->object[n];
        put(p, "  <RsiObject ObjTypeId=\"%d\" ObjType=\"%s\" ObjId=\"%s\">\n", o->id, o->type4, o->name4);
        if (o->inputs)
            put(p, "   <Inputs>\n");
        for (int i = 0; i < o->inputs; i++)
            put(p, "    <Input InIdx=\"%d\" OutObjId=\"%s\" OutIdx=\"%d\" />\n", i,
                c->object[o->in[i].from].name4, o->in[i].port);
        if (o->inputs)
            put(p, "   </Inputs>\n");
        if (o->parameters)
            put(p, "   <Parameters>\n");
        for (int i = 0; i < o->parameters; i++) {
            const parameter *q = &o->parameter[i];
            trim(q->value, value);
            put(p, "    <Parameter %s%sName=\"%s\" ParamId=\"%d\" ParamValue=\"%s\" />\n",
                q->fixed ? "IsRuntime=\"false\" " : "", q->open ? "IsPublic=\"true\" " : "", q->name, q->id4,
                value);
        }
        if (o->parameters)
            put(p, "   </Parameters>\n");
        put(p, "  </RsiObject>\n");
    }
    put(p, " </RsiObjects>\n <BlueprintCollections SchemaVersion=\"2.0.0\" xmlns=\"RsiBlueprint\" />\n"
           " <Constructs xmlns=\"RsiConstruct\">\n");
    for (int n = 0; n < c->objects; n++) {
        const object *o = &c->object[n];
        put(p,
            "  <Construct Name=\"%s\" BlueprintName=\"%s\" BlueprintCollection=\"RSI\" Location=\"%d,%d\">\n",
            o->name4, o->type4, n == 0 || o->inputs == 0 ? 0 : 400, 150 * n);
        if (o->inputs)
            put(p, "   <Inputs>\n");
        for (int i = 0; i < o->inputs; i++)
            put(p, "    <Input Name=\"%s\" SourceObject=\"%s\" SourcePort=\"%s\" />\n", o->in[i].name,
                c->object[o->in[i].from].name4, c->object[o->in[i].from].out[o->in[i].port]);
        if (o->inputs)
            put(p, "   </Inputs>\n");
        if (o->parameters)
            put(p, "   <Parameters>\n");
        for (int i = 0; i < o->parameters; i++) {
            const parameter *q = &o->parameter[i];
            trim(q->value, value);
            put(p, "    <%sParameter Name=\"%s\"%s Value=\"%s\" />\n",
                q->word                                 ? "Enum"
                : strcmp(q->type, "System.Double") == 0 ? "Double"
                : strcmp(q->type, "System.Int32") == 0  ? "Int"
                                                        : "String",
                q->name, q->open ? " CanBeSetFromKrl=\"true\"" : "", q->word ? q->word : value);
        }
        if (o->parameters)
            put(p, "   </Parameters>\n");
        put(p, "  </Construct>\n");
    }
    put(p, " </Constructs>\n</RsiContext>\n");
}

/* The Ethernet object's own file. */
static void put_ethernet(page *p, const ff_rsi_cell *cell, const context *c) {
    const ff_device_settings *s = cell->settings;
    ff_rsi_names names;
    ff_rsi_names_of(s, &names);
    put(p, "<ROOT>\n <!-- freefloat: %s -->\n <CONFIG>\n  <IP_NUMBER>%s</IP_NUMBER>\n  <PORT>%u</PORT>\n",
        cell->title, cell->address, cell->port);
    put(p, "  <SENTYPE>%s</SENTYPE>\n  <ONLYSEND>FALSE</ONLYSEND>\n </CONFIG>\n <SEND><ELEMENTS>\n",
        names.type);
    const struct {
        const char *tag;
        bool sent;
    } internal[] = {{"RIst", true},
                    {"RSol", !s->no_rsol},
                    {"AIPos", true},
                    {"ASPos", !s->no_aspos},
                    {"EIPos", !s->no_eipos}};
    for (size_t n = 0; n < sizeof internal / sizeof *internal; n++)
        if (internal[n].sent)
            put(p, "  <ELEMENT TAG=\"DEF_%s\" TYPE=\"DOUBLE\" INDX=\"INTERNAL\"/>\n", internal[n].tag);
    put(p, "  <ELEMENT TAG=\"DEF_Delay\" TYPE=\"LONG\" INDX=\"INTERNAL\"/>\n");
    for (int n = 0; n < c->sent; n++)
        put(p, "  <ELEMENT TAG=\"%s\" TYPE=\"%s\" INDX=\"%d\"/>\n", c->send[n].tag, c->send[n].type, n + 1);
    put(p, " </ELEMENTS></SEND>\n <RECEIVE><ELEMENTS>\n"
           "  <ELEMENT TAG=\"DEF_EStr\" TYPE=\"STRING\" INDX=\"INTERNAL\"/>\n");
    for (int n = 0; n < c->received; n++)
        put(p, "  <ELEMENT TAG=\"%s\" TYPE=\"%s\" INDX=\"%d\" HOLDON=\"%d\"/>\n", c->receive[n].tag,
            c->receive[n].type, n + 1, c->receive[n].holds);
    put(p, " </ELEMENTS></RECEIVE>\n</ROOT>\n");
}

/* ------------------------------------------------------------------------------------------------- KRL -- */

/* Each limit of one object, as the controller has it: the smallest counts. */
static void put_readings(page *p, const context *c, bool third, const char *type, bool turns) {
    for (int n = 0; n < c->objects; n++) {
        const object *o = &c->object[n];
        if (strcmp(o->type3, type) != 0)
            continue;
        for (int i = 0; i < o->parameters; i++) {
            const parameter *q = &o->parameter[i];
            if (!q->open || (strcmp(q->name, "MaxRotAngle") == 0) != turns)
                continue;
            put(p, "  ret = RSI_GETPUBLICPAR(id, \"%s\", \"%s\", val)\n  freefloat_took()\n",
                third ? o->name3 : o->name4, q->name);
        }
    }
}

static void put_src(page *p, const ff_rsi_cell *cell, const context *c, bool third) {
    const ff_device_settings *s = cell->settings;
    double tool[6];
    ff_rsi_from_pose(s->tool, tool);
    put(p, "DEF freefloat()\n; freefloat: %s. For RSI %s.\n", cell->title, third ? "3" : "4 and 5");
    put(p, "; Never run on a controller. $TOOL and $BASE are the scenario's: RIst is the satellite's CoM in "
           "ROBROOT.\n");
    if (s->heartbeat)
        put(p, "; The watchdog of freefloat_watch.sub: its output $OUT[17] is wired to $IN[17].\n"
               "INTERRUPT DECL 17 WHEN $IN[17] == TRUE DO freefloat_brake()\n");
    put(p,
        "id = 0\nBAS(#INITMOV, 0)\n$TOOL = {X %.4f, Y %.4f, Z %.4f, A %.5f, B %.5f, C %.5f}\n$BASE = "
        "$ROBROOT\n",
        tool[0], tool[1], tool[2], tool[3], tool[4], tool[5]);
    put(p, "PTP {A1 %.4f, A2 %.4f, A3 %.4f, A4 %.4f, A5 %.4f, A6 %.4f}   ; where the run begins\n",
        cell->axes[0], cell->axes[1], cell->axes[2], cell->axes[3], cell->axes[4], cell->axes[5]);
    put(p, "ret = RSI_CREATE(\"freefloat_rsi%s\", id, TRUE)\nfreefloat_check()\n", third ? ".rsi" : "");
    put(p, "freefloat_limits()   ; told to freefloat with every telegram: Lim\n");
    put(p, "ret = RSI_ON(#%s, #%s)   ; %g ms\nfreefloat_check()\n", s->increments ? "RELATIVE" : "ABSOLUTE",
        s->cycle > 0.008 ? "IPO" : "IPO_FAST", s->cycle > 0.008 ? 12.0 : 4.0);
    if (s->heartbeat)
        put(p, "INTERRUPT ON 17\n");
    put(p, "RSI_MOVECORR()\n");
    if (s->heartbeat)
        put(p, "INTERRUPT OFF 17   ; the answers end here, as they should\n");
    put(p, "ret = RSI_OFF()\nfreefloat_check()\nret = RSI_DELETE(id)\nid = 0\nfreefloat_check()\nEND\n\n");
    put(p, "DEF freefloat_limits()\n; the smallest of what the context clips at: of angles to $SEN_PREA[1], "
           "of lengths to "
           "$SEN_PREA[2]\nclip = 10000.0\n");
    put_readings(p, c, third, s->cartesian ? "POSCORR" : "AXISCORR", s->cartesian);
    put(p, "$SEN_PREA[1] = clip\nclip = 10000.0\n");
    put_readings(p, c, third, s->cartesian ? "POSCORR" : "AXISCORREXT", false);
    put(p, "$SEN_PREA[2] = clip\nEND\n\n");
    put(p, "DEF freefloat_took()\nfreefloat_check()\nIF ABS(val) < clip THEN\n  clip = "
           "ABS(val)\nENDIF\nEND\n\n");
    put(p, "DEF freefloat_check()\n; nothing goes on after an RSI call that failed\nIF ret <> RSIOK THEN\n"
           "  freefloat_end()\nENDIF\nEND\n\n");
    put(p, "DEF freefloat_end()\n; the context goes; what these two return changes nothing any more\n"
           "ret = RSI_OFF()\nIF id <> 0 THEN\n  ret = RSI_DELETE(id)\n  id = 0\nENDIF\n"
           "LOOP   ; a start key does not lead on\n  HALT\nENDLOOP\nEND\n");
    if (s->heartbeat)
        put(p, "\nDEF freefloat_brake()\nINTERRUPT OFF 17\nBRAKE F\nfreefloat_end()\nEND\n");
}

static void put_dat(page *p, const ff_rsi_cell *cell) {
    put(p,
        "DEFDAT freefloat\n; freefloat: %s\nDECL INT ret = 0   ; of the last RSI call\nDECL INT id = 0    ; "
        "of the "
        "context; 0: none\nDECL REAL val = 0.0\nDECL REAL clip = 0.0\nENDDAT\n",
        cell->title);
}

/* Watches the heartbeat in the submit interpreter. */
static void put_sub(page *p, const ff_rsi_cell *cell) {
    const double cycle = cell->settings->cycle > 0.008 ? 12.0 : 4.0;
    put(p,
        "DEF freefloat_watch()\n; freefloat: %s\n"
        "; Watchdog over the heartbeat of the answers (robot: {heartbeat: on}). Never run on a controller. "
        "It is not a\n"
        "; safety function: it brakes a program, no more.\n"
        "; $SEN_PINT[1] is the counter of the answers, $SEN_PINT[2] the state of the run:\n"
        ";   0 OFF 1 CHECK 2 TEST 3 ZEROED 4 ARMED 5 APPROACH 6 RUNUP 7 FLOAT 8 CONTACT 9 BRAKE 10 RETREAT "
        "11 HOLD 12 "
        "FAULT 13 END\n"
        "; $OUT[17] goes to an input that the motion program watches by an interrupt, which comes with the "
        "edge from FALSE\n"
        "; to TRUE: the output is FALSE from the first answer of a run on, and nothing is watched before "
        "it.\n",
        cell->title);
    put(p,
        "DECL INT last, n\nDECL BOOL alive, good\nalive = FALSE\nlast = $SEN_PINT[1]\n$TIMER[17] = 0\n"
        "$TIMER_STOP[17] = FALSE\n$OUT[17] = FALSE\nLOOP\n  n = $SEN_PINT[1]\n"
        "  good = ($SEN_PINT[2] >= 0) AND ($SEN_PINT[2] <= 13) AND ($SEN_PINT[2] <> 12)\n"
        "  IF n <> last THEN\n    last = n\n    $TIMER[17] = 0\n    IF good AND NOT alive THEN\n      alive "
        "= TRUE\n"
        "      $OUT[17] = FALSE\n    ENDIF\n  ENDIF\n"
        "  ; ten cycles without a new answer, or a state that is not one of a run\n"
        "  IF alive AND (($TIMER[17] > %g) OR NOT good) THEN\n    alive = FALSE\n    $OUT[17] = TRUE\n  "
        "ENDIF\n"
        "ENDLOOP\nEND\n",
        10.0 * cycle);
}

size_t ff_rsi_file(const ff_rsi_cell *cell, int n, const char **name, char *text, size_t size) {
    static const char *const names[] = {
        "freefloat_rsi.xml",          "rsi3/freefloat_rsi.rsi", "rsi3/freefloat_rsi.rsi.diagram",
        "rsi3/freefloat_rsi.rsi.xml", "rsi3/freefloat.src",     "rsi4-5/freefloat_rsi.rsix",
        "rsi4-5/freefloat.src",       "freefloat.dat",          "freefloat_watch.sub"};
    context c;
    page p = {text, size, 0};
    if (n < 0 || n >= (int)(sizeof names / sizeof *names))
        return 0;
    *name = names[n];
    build(cell, &c);
    switch (n) {
    case 0:
        put_ethernet(&p, cell, &c);
        break;
    case 1:
        put_rsi(&p, cell, &c);
        break;
    case 2:
        put_diagram(&p, cell, &c);
        break;
    case 3:
        put_rsi_xml(&p, cell, &c);
        break;
    case 4:
    case 6:
        put_src(&p, cell, &c, n == 4);
        break;
    case 5:
        put_rsix(&p, cell, &c);
        break;
    case 7:
        put_dat(&p, cell);
        break;
    default:
        put_sub(&p, cell);
        break;
    }
    return p.used;
}
