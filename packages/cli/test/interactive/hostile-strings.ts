/** Strings that would control a terminal, or deceive its reader, if they reached it as they are. */

const split = (text: string): string[] => text.trim().split(/\s+/);

/** Texts after `ESC [`. No number of tau's own sequences is 7777. */
const csi = [
  ...split(`31;44m 5m 8m 1;91m 38;5;200m 38;2;1;2;3m 58;5;1m 31:1:2m 2J 3J 1J 2K 1K 6n 5n c >c =c 21t 18t 14t 8;1;1t !p
    ?u >1u s u 7777A 7777B 7777C 7777D 7777G 7777d 7777;1H 7777;1f 7777X 7777L 7777M 7777P 7777@ 7777S 7777T 7777b 1;5r 0q
    4h 20h ?1049h ?1049l ?47h ?1000h ?1003h ?1006h ?1004h ?2004l ?1h ?5h ?6h ?9001h ?2048h <35;1;1M 200~ 201~`),
  "2 q",
  `${"31;".repeat(400)}m`,
  `${"9".repeat(400)}m`,
];
/** Texts after `ESC ]`. */
const osc = [
  ...split(`0;title 1;icon 2;title 4;1;rgb:00/00/00 4;1;? 7;file:///evil 8;;evil:link 9;note 9;4;1;50 10;? 11;? 11;#000000
    12;red 50;font 52;c;aGk= 52;p;aGk= 52;c;? 104 110 111 133;A 633;A 697;x 777;notify;a;b 1337;SetMark
    1337;File=inline=1:AAAA 5522;x 99;i=1;hi`),
  "",
];
/** Texts after `ESC`, until `ESC \`. */
const strings = [
  ...split("Pq#0;2;0;0;0~- P+q544e P$qm P=1s _Ga=T,f=100;AAAA _Ga=q,i=1;AAAA _x ^private Xstring kname"),
  "Ptmux;\x1b\x1b]52;c;aGk=\x07",
];
const short = [...split("c 7 8 #8 (0 )0 = > D E H M N O Z n o ~ \\ %G l"), " F"];
const c1 = [
  ...split("\x84 \x88 \x8d \x8e \x8f \x9a \x9b31m \x9b2J \x9b6n \x9d52;c;aGk=\x9c \x9d0;t\x07"),
  ...split("\x90q\x9c \x9fGa=T;AA\x9c \x9ex\x9c \x98x\x9c \x9c"),
  "\x85",
];
const c0 = [...split("\x00 \x01 \x05 \x07 \b\b\b\b \x0e \x0f \x11 \x13 \x18 \x1a \x1c \x7f \x1b"), "\v", "\f"];
/** Right-to-left overrides and the like: what one reads is not what is there. */
const bidi = [..."\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"];
const invisible = [..."\u200b\u2060\u2061\u2062\u2063\u2064\u206a\u206f\ufeff\u00ad\ufff9\ufffa\ufffb\u2028\u2029"];
const torn = split(
  "\x1b\x1b[31m \x1b[3\x1b[31m1m \x1b]52;c;\x1b[31maGk=\x07 \x1b[31 \x1b]52;c;aGk= \x1bP \x1b_G \x1b[\u009b31m",
);

export const hostileStrings: readonly string[] = [
  ...csi.map((text) => `\x1b[${text}`),
  ...osc.flatMap((text) => [`\x1b]${text}\x07`, `\x1b]${text}\x1b\\`]),
  ...strings.flatMap((text) => [`\x1b${text}\x1b\\`, `\x1b${text}`]),
  ...short.map((text) => `\x1b${text}`),
  ...c1,
  ...c0,
  ...bidi.map((character) => `${character}gpj.exe`),
  ...invisible.map((character) => `in${character}visible`),
  ...torn,
];

/** Each with a word before it, by which one sees that the place was drawn. */
export const named: readonly string[] = hostileStrings.map((text, index) => `c${index}c ${text} end`);

/** How many of these words are in a text. */
export const countSeen = (text: string): number =>
  hostileStrings.filter((_unused, index) => text.includes(`c${index}c`)).length;

const ownStyles = new Set(["", "0", "1", "2", "3", "4", "7", "9", "22", "23", "24", "27", "29"]);
const ownModes = new Set(["25", "2026", "7"]);
const ownOsc = new Set(["9;4;3\x07", "9;4;0;\x07"]);

// oxlint-disable-next-line no-control-regex -- they are looked for
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/;
const hidden = /[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
const unwanted = new RegExp(`${controls.source}|${hidden.source}`);

/** The title that shows which session it is. */
// oxlint-disable-next-line no-control-regex -- what is looked for is what must not be in it
const ownTitle = /\x1b\]0;τ - [^\x00-\x1f\x7f-\x9f]*\x1b\\/g;

/** Finds sequences that an interface without colors and links wrote and that are not its own; empty if all is well. */
export function findIntruders(output: string): string[] {
  const [before = "", ...sequences] = output.replaceAll(ownTitle, "").split("\x1b");
  const texts = [before];
  const intruders = sequences.filter((part) => {
    const match = /^\[(\??)([\d;]*)([A-Za-z])/.exec(part);
    const [whole = "", isMode, numbers = "", final = ""] = match ?? [];
    texts.push(part.slice(whole.length));
    if (final === "m") return !numbers.split(";").every((style) => ownStyles.has(style));
    if (isMode) return !ownModes.has(numbers) || !"hl".includes(final);
    if ("ABCG".includes(final) && final !== "") return !/^\d{0,3}$/.test(numbers);
    if ("HJK".includes(final) && final !== "") return numbers !== "";
    texts.pop();
    const osc = [...ownOsc].find((text) => part.startsWith(`]${text}`));
    texts.push(osc === undefined ? "" : part.slice(osc.length + 1));
    return osc === undefined;
  });
  const characters = texts.flatMap((text) => {
    const index = text.search(unwanted);
    return index === -1 ? [] : [text.slice(Math.max(0, index - 20), index + 10)];
  });
  return [...intruders.map((part) => `ESC${part.slice(0, 60)}`), ...characters];
}

/** Removes colors, which extensions may show. */
// oxlint-disable-next-line no-control-regex -- they are looked for
export const withoutColors = (output: string): string => output.replaceAll(/\x1b\[[\d;:]*m/g, "");
