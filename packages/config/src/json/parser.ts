/** The parts of jsonc-parser that are used. This module is imported late; naming them keeps the rest out of the bundle. */
export { createScanner, getNodeValue, parseTree, printParseErrorCode } from "jsonc-parser";
