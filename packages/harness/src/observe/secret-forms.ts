/** The ways in which a secret is written inside other text. */

/** Shorter ones are words: to take them out would make everything unreadable. */
export const minSecretLength = 8;

/**
 * A secret as it is, and as JSON, addresses, forms and base64 write it, also where base64 was made of a text that only
 * contains it. The longest come first. Nothing for a secret that is too short.
 */
export function secretForms(secret: string): string[] {
  if (secret.length < minSecretLength) return [];
  const forms = new Set<string>();
  for (const text of [secret, secret.trim()]) {
    if (text.length < minSecretLength) continue;
    for (const form of [text, ...jsonForms(text), ...urlForms(text), ...base64Forms(text)])
      if (form.length >= minSecretLength) forms.add(form);
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

/** Once, and twice for JSON inside of JSON; and as those write it who allow ASCII only, or escape slashes. */
function jsonForms(text: string): string[] {
  const once = escaped(text);
  const ascii = once.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [once, ascii, once.replaceAll("/", "\\/"), escaped(once), escaped(ascii)];
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

function urlForms(text: string): string[] {
  const whole = text.toWellFormed();
  const strict = encodeURIComponent(whole);
  const asForm = new URLSearchParams([["", whole]]).toString().slice(1);
  const forms = [strict, encodeURI(whole), asForm];
  return [...forms, ...forms.map((form) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/**
 * Base64 writes three bytes as four letters, so a text that begins one or two bytes later looks different: for each of
 * the three beginnings the letters that depend on nothing but the text.
 */
function base64Forms(text: string): string[] {
  const bytes = Buffer.from(text, "utf8");
  const inside = [0, 1, 2].map((before) => {
    const letters = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return letters.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString("base64");
  const forms = [whole, whole.replace(/=+$/, ""), ...inside];
  return [...forms, ...forms.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"))];
}
