/** Texts that the names of glyphs and the codes of the encodings of PDF stand for. Pure. */
import { decodeWindows1252 } from "./windows-1252.ts";

const accents: Readonly<Record<string, string>> = {
  grave: "\u0300",
  acute: "\u0301",
  circumflex: "\u0302",
  tilde: "\u0303",
  macron: "\u0304",
  breve: "\u0306",
  dotaccent: "\u0307",
  dieresis: "\u0308",
  ring: "\u030a",
  hungarumlaut: "\u030b",
  caron: "\u030c",
  cedilla: "\u0327",
  commaaccent: "\u0326",
  ogonek: "\u0328",
};

const others = `space   exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft ( parenright ) asterisk * plus +
comma , hyphen - minus − period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 colon : semicolon ;
less < equal = greater > question ? at @ bracketleft [ backslash \\ bracketright ] asciicircum ^ underscore _ grave \` braceleft { bar |
braceright } asciitilde ~ exclamdown ¡ cent ¢ sterling £ fraction ⁄ yen ¥ florin ƒ section § currency ¤ quotedblleft “ quotedblright ”
quoteleft ‘ quoteright ’ quotesinglbase ‚ quotedblbase „ guillemotleft « guillemotright » guilsinglleft ‹ guilsinglright › endash – emdash —
dagger † daggerdbl ‡ periodcentered · paragraph ¶ bullet • ellipsis … perthousand ‰ questiondown ¿ acute ´ circumflex ˆ tilde ˜ macron ¯
breve ˘ dotaccent ˙ dieresis ¨ ring ˚ cedilla ¸ hungarumlaut ˝ ogonek ˛ caron ˇ AE Æ ae æ OE Œ oe œ ordfeminine ª ordmasculine º Lslash Ł
lslash ł Oslash Ø oslash ø germandbls ß dotlessi ı dotlessj ȷ Eth Ð eth ð Thorn Þ thorn þ brokenbar ¦ copyright © registered ® trademark ™
logicalnot ¬ degree ° plusminus ± multiply × divide ÷ mu µ onehalf ½ onequarter ¼ threequarters ¾ onesuperior ¹ twosuperior ² threesuperior ³
Euro € ff ff fi fi fl fl ffi ffi ffl ffl st st nbspace   sfthyphen - Dcroat Đ dcroat đ Hbar Ħ hbar ħ kra ĸ Eng Ŋ eng ŋ
Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ
Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ
omicron ο pi π rho ρ sigma σ sigma1 ς tau τ upsilon υ phi φ chi χ psi ψ omega ω theta1 ϑ phi1 ϕ omega1 ϖ
arrowleft ← arrowup ↑ arrowright → arrowdown ↓ arrowboth ↔ arrowdblright ⇒ arrowdblleft ⇐ infinity ∞ partialdiff ∂ summation ∑ product ∏
integral ∫ radical √ approxequal ≈ notequal ≠ lessequal ≤ greaterequal ≥ element ∈ notelement ∉ universal ∀ existential ∃ gradient ∇
intersection ∩ union ∪ logicaland ∧ logicalor ∨ propersubset ⊂ propersuperset ⊃ reflexsubset ⊆ reflexsuperset ⊇ emptyset ∅ angle ∠
similar ∼ congruent ≅ equivalence ≡ proportional ∝ therefore ∴ asteriskmath ∗ dotmath ⋅ prime ′ second ″ lozenge ◊ circlemultiply ⊗
circleplus ⊕ angleleft 〈 angleright 〉 weierstrass ℘ aleph ℵ Ifraktur ℑ Rfraktur ℜ suchthat ∋ perpendicular ⊥ visiblespace ␣ check ✓`;

const names = new Map<string, string>();
for (const match of others.matchAll(/(\w+) (\S{1,3}| )(?=\s|$)/g)) names.set(match[1]!, match[2]!);

/** Returns the text of a glyph by its name; undefined if the name says nothing. */
export function getGlyphText(name: string): string | undefined {
  const base = name.replace(/\..*$/, "");
  if (base === "") return undefined;
  const known = names.get(base);
  if (known !== undefined) return known;
  if (/^[A-Za-z]$/.test(base)) return base;
  const hex = /^(?:uni((?:[0-9A-F]{4})+)|u([0-9A-F]{4,6}))$/i.exec(base);
  if (hex) return fromHex(hex[1] ?? hex[2]!.padStart(6, "0"), hex[1] === undefined ? 6 : 4);
  if (base.includes("_")) {
    const parts = base.split("_").map(getGlyphText);
    return parts.every((part) => part !== undefined) ? parts.join("") : undefined;
  }
  const accented = /^([A-Za-z]|dotlessi)([a-z]+)$/.exec(base);
  const accent = accented && accents[accented[2]!];
  return accent ? `${accented[1] === "dotlessi" ? "i" : accented[1]}${accent}`.normalize("NFC") : undefined;
}

function fromHex(digits: string, width: number): string | undefined {
  let text = "";
  for (let index = 0; index < digits.length; index += width) {
    const code = parseInt(digits.slice(index, index + width), 16);
    if (code > 0x10_ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
    text += String.fromCodePoint(code);
  }
  return text;
}

const listBytes = (decode: (bytes: Uint8Array) => string): readonly string[] => [
  ...decode(Uint8Array.from({ length: 256 }, (_unused, code) => code)),
];

/** The codes of the upper half of Adobe's standard encoding. */
const standardUpper: Readonly<Record<number, string>> = Object.fromEntries(
  [..."¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ"]
    .map((text, index) => [0xa1 + index, text] as const)
    .concat(
      [..."–†‡·"].map((text, index) => [0xb1 + index, text] as const),
      [..."¶•‚„”»…‰"].map((text, index) => [0xb6 + index, text] as const),
      [..."¿"].map((text) => [0xbf, text] as const),
      [..."`´ˆ˜¯˘˙¨"].map((text, index) => [0xc1 + index, text] as const),
      [..."˚¸"].map((text, index) => [0xca + index, text] as const),
      [
        [0xcd, "˝"],
        [0xce, "˛"],
        [0xcf, "ˇ"],
        [0xd0, "—"],
        [0xe1, "Æ"],
        [0xe3, "ª"],
        [0xe8, "Ł"],
        [0xe9, "Ø"],
        [0xea, "Œ"],
        [0xeb, "º"],
        [0xf1, "æ"],
        [0xf5, "ı"],
        [0xf8, "ł"],
        [0xf9, "ø"],
        [0xfa, "œ"],
        [0xfb, "ß"],
      ],
    ),
);

const ascii = listBytes((bytes) => Buffer.from(bytes).toString("latin1")).map((text, code) =>
  code < 0x80 ? text : "",
);
const standard = ascii.map((text, code) => (code === 0x27 ? "’" : code === 0x60 ? "‘" : (standardUpper[code] ?? text)));
const symbol = ascii.map((text, code) => {
  if (code >= 0x41 && code <= 0x5a) return "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"[code - 0x41]!;
  if (code >= 0x61 && code <= 0x7a) return "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"[code - 0x61]!;
  return code === 0xb7 ? "•" : text;
});

/** The texts of the 256 codes of an encoding. An empty one stands for nothing. */
export const encodings: Readonly<Record<string, readonly string[]>> = {
  StandardEncoding: standard,
  WinAnsiEncoding: listBytes(decodeWindows1252),
  MacRomanEncoding: listBytes((bytes) => new TextDecoder("macintosh").decode(bytes)),
  Symbol: symbol,
};
