/** The encodings in which a secret appears in other texts. */

/** Shorter values may be ordinary words; to remove them would make the log unreadable. */
export const minSecretLength = 8;

/**
 * The secret itself, and encoded in JSON, in URLs, in forms, in hexadecimal and in base64, also in base64 of a longer text. So are the long
 * lines of a secret that has several, such as a private key: a search or a log shows them one by one. The longest come
 * first. Empty for a secret that is too short.
 */
export function getSecretForms(secret: string): string[] {
  const forms = new Set<string>();
  for (const text of [secret, secret.trim(), ...listTellingLines(secret)]) {
    if (text.length < minSecretLength) continue;
    // Most keys are the same in JSON and in URLs.
    const escaped = /^[\w.-]+$/.test(text) ? [] : [...getJsonForms(text), ...getUrlForms(text)];
    const encoded = [...getPercentForms(text), ...getHexForms(text), ...getBase64Forms(text)];
    for (const form of [text, ...escaped, ...encoded]) if (form.length >= minSecretLength) forms.add(form);
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

/** Shorter lines may be words, and a line such as `-----BEGIN PRIVATE KEY-----` is the same in all keys. */
const minLineLength = 24;

function listTellingLines(secret: string): string[] {
  const lines = secret.split(/\r?\n/);
  if (lines.length === 1) return [];
  return lines.map((line) => line.trim()).filter((line) => line.length >= minLineLength && !line.startsWith("-----"));
}

/** Escaped once, and twice for JSON inside of JSON; also by encoders that write ASCII only, or escape slashes. */
function getJsonForms(text: string): string[] {
  const once = escape(text);
  const ascii = once.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [once, ascii, once.replaceAll("/", "\\/"), escape(once), escape(ascii)];
}

const escape = (text: string): string => JSON.stringify(text).slice(1, -1);

function getUrlForms(text: string): string[] {
  const whole = text.toWellFormed();
  const strict = encodeURIComponent(whole);
  const asForm = new URLSearchParams([["", whole]]).toString().slice(1);
  const forms = [strict, encodeURI(whole), asForm];
  return [...forms, ...forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/** Encoders differ in what they leave as it is: the characters that RFC 3986 does not reserve, letters and digits, or nothing. */
const keptByEncoders = [/[\w.~-]/, /[\w.~/-]/, /[A-Za-z0-9]/, /(?!)/];

function getPercentForms(text: string): string[] {
  const bytes = [...Buffer.from(text, "utf8")];
  return keptByEncoders.flatMap((kept) =>
    [toUpperHex, toLowerHex].map((toHex) =>
      bytes
        .map((byte) => {
          const character = String.fromCharCode(byte);
          return byte < 0x80 && kept.test(character) ? character : `%${toHex(byte)}`;
        })
        .join(""),
    ),
  );
}

const toLowerHex = (byte: number): string => byte.toString(16).padStart(2, "0");
const toUpperHex = (byte: number): string => toLowerHex(byte).toUpperCase();

function getHexForms(text: string): string[] {
  const lower = Buffer.from(text, "utf8").toString("hex");
  return [lower, lower.toUpperCase()];
}

/**
 * Base64 encodes three bytes as four characters, so the encoding depends on the offset of the text. For each of the three
 * offsets: the characters that depend on the text alone.
 */
function getBase64Forms(text: string): string[] {
  const bytes = Buffer.from(text, "utf8");
  const inside = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString("base64");
  const forms = [whole, whole.replace(/=+$/, ""), ...inside];
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}
