/** The body of a response as what it is. Pure. */
import { decodeWindows1252 } from "@tau/tools/pdf";
import { detectImageType, type ImageType } from "@tau/tools/platform";
import type { WebResponse } from "../../kit/http/send.ts";

type WebContent =
  | { readonly kind: "html" | "text" | "json"; readonly text: string }
  | { readonly kind: "image"; readonly image: { readonly type: ImageType; readonly bytes: Buffer } }
  | { readonly kind: "pdf"; readonly bytes: Uint8Array }
  | { readonly kind: "other"; readonly type: string; readonly size: number };

export function toContent({ headers, body }: Pick<WebResponse, "headers" | "body">): WebContent {
  const [declared = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";");
  const type = declared.trim();
  const image = detectImageType(body);
  if (image !== undefined) return { kind: "image", image: { type: image, bytes: body } };
  if (body.subarray(0, 1_024).includes("%PDF-")) return { kind: "pdf", bytes: body };
  // Files that servers call a text.
  const mark = findByteOrder(body);
  const isBinary = body.subarray(0, 8_192).includes(0) && mark === undefined && !/utf-?16/.test(parameters.join(";"));
  if (isBinary) return { kind: "other", type: type === "" ? "unknown" : type, size: body.length };
  // What the text begins with is right more often than what is said about it.
  const charset = mark ?? /charset=["']?([\w-]+)/.exec(parameters.join(";"))?.[1];
  if (isText(type)) {
    const text = decode(body, charset ?? findCharset(body));
    const isHtml = type.includes("html") || (type !== "text/markdown" && startsLikeHtml(text));
    if (isHtml) return { kind: "html", text };
    return { kind: /[/+]json$/.test(type) ? "json" : "text", text };
  }
  // Some servers do not say what they send.
  if (type === "" || type === "application/octet-stream") {
    const text = decode(body, charset);
    return { kind: startsLikeHtml(text) ? "html" : "text", text };
  }
  return { kind: "other", type: type === "" ? "unknown" : type, size: body.length };
}

const isText = (type: string): boolean =>
  type.startsWith("text/") ||
  /[/+](?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|ecmascript|typescript|x-sh|x-httpd-php|sql|graphql|x-ndjson|jsonl)$/.test(
    type,
  );

const startsLikeHtml = (text: string): boolean => /^\s*(?:<!--[^]{0,500}?-->\s*)?<(?:!doctype html|html)\b/i.test(text);

/** The charset of a text that begins with a mark for it. */
const findByteOrder = (body: Buffer): string | undefined => {
  const start = body.toString("hex", 0, 3);
  if (start === "efbbbf") return "utf-8";
  return start.startsWith("fffe") ? "utf-16le" : start.startsWith("feff") ? "utf-16be" : undefined;
};

/** The charset that a page declares in its head. One that can be read as ASCII is never UTF-16. */
const findCharset = (body: Buffer): string | undefined => {
  const declared = /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(body.subarray(0, 2_048).toString("latin1"))?.[1];
  return /^utf-?16/i.test(declared ?? "") ? undefined : declared;
};

function decode(body: Buffer, charset = "utf-8"): string {
  try {
    const decoder = new TextDecoder(charset);
    return decoder.encoding === "windows-1252" ? decodeWindows1252(body) : decoder.decode(body);
  } catch {
    // A name that is not known.
    return new TextDecoder().decode(body);
  }
}
