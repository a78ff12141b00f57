export { extractPdfText, type PdfLimits, type PdfText } from "./extract-text.ts";
export { decodeWindows1252 } from "./windows-1252.ts";
