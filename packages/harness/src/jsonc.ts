/** What is used of the parser for JSON with comments. Imported late, and so named here: a bundle has these and no more. */
export { createScanner, findNodeAtLocation, getNodeValue, parseTree, printParseErrorCode } from "jsonc-parser";
