/** The entities that people write. Others are shown as they are. */
const named: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: "\u00a0",
    copy: "©",
    reg: "®",
    trade: "™",
    hellip: "…",
    mdash: "—",
    ndash: "–",
    lsquo: "‘",
    rsquo: "’",
    ldquo: "“",
    rdquo: "”",
    laquo: "«",
    raquo: "»",
    bull: "•",
    middot: "·",
    times: "×",
    divide: "÷",
    plusmn: "±",
    deg: "°",
    micro: "µ",
    frac12: "½",
    frac14: "¼",
    sup2: "²",
    sup3: "³",
    le: "≤",
    ge: "≥",
    ne: "≠",
    asymp: "≈",
    infin: "∞",
    sum: "∑",
    radic: "√",
    pi: "π",
    larr: "←",
    uarr: "↑",
    rarr: "→",
    darr: "↓",
    harr: "↔",
    rArr: "⇒",
    check: "✓",
    euro: "€",
    pound: "£",
    yen: "¥",
    cent: "¢",
    sect: "§",
    para: "¶",
  }),
);

export const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][a-zA-Z\d]*));/g, (entity, decimal, hex, name) =>
    name === undefined ? toCharacter(hex ? parseInt(hex, 16) : Number(decimal)) : (named.get(name) ?? entity),
  );

const toCharacter = (code: number) =>
  code > 0 && code <= 0x10ffff && !isSurrogate(code) ? String.fromCodePoint(code) : "\ufffd";

/** Half a character: terminals draw it as U+FFFD, which has a width. */
const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff;
