#pragma once
#include <libxml/xmlversion.h>
// Swift's Foundation brings ICU's headers in another version, and a program that sees both does not
// compile. Only the layout of character encoding handlers depends on ICU; they are not used.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/SAX2.h>
#include <libxml/xmlerror.h>
#include <libxml/uri.h>
