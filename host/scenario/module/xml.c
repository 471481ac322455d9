/* The module xml: libxml2, which brings the tables of Unicode with it. */
#include "scenario/xml.h"

#include "text/module.h"

static const xmlError *last_error(xmlParserCtxt *parser) {
    return xmlCtxtGetLastError(parser);
}

static void free_text(void *text) {
    xmlFree(text);
}

static const ff_xml table = {
    xmlNewParserCtxt,     xmlFreeParserCtxt, xmlStopParser, xmlCtxtReadMemory, xmlFreeDoc,
    xmlDocGetRootElement, last_error,        xmlGetLineNo,  xmlGetNoNsProp,    free_text};

const ff_module ff_module_offer = {FF_MODULE_VERSION, &table};
