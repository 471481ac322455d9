/* scenario/xml.h - what is called of libxml2: the table of the module xml. */
#ifndef FF_SCENARIO_XML_H
#define FF_SCENARIO_XML_H

#include <libxml/parser.h>
#include <libxml/tree.h>

typedef struct ff_xml {
    xmlParserCtxt *(*new_parser)(void);
    void (*free_parser)(xmlParserCtxt *parser);
    void (*stop)(xmlParserCtxt *parser);
    xmlDoc *(*read)(xmlParserCtxt *parser, const char *text, int length, const char *url,
                    const char *encoding, int options);
    void (*free_document)(xmlDoc *document);
    xmlNode *(*root)(const xmlDoc *document);
    const xmlError *(*error)(xmlParserCtxt *parser);
    long (*line)(const xmlNode *node);
    xmlChar *(*attribute)(const xmlNode *node, const xmlChar *name);
    void (*free_text)(void *text);
} ff_xml;

#endif
