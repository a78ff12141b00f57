/** Characters that Unicode has above and below the line. */

const toMap = (plain: string, script: string): ReadonlyMap<string, string> => {
  const characters = [...script];
  return new Map([...plain].map((character, index) => [character, characters[index] as string]));
};

const superscripts = toMap(
  "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδθφχ′∗*∘°",
  "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᶿᵠᵡ′**°°",
);
const subscripts = toMap("0123456789+-=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ");

const convert = (text: string, table: ReadonlyMap<string, string>): string | undefined => {
  const converted = Array.from(text, (character) => table.get(character));
  return converted.every((character) => character !== undefined) ? converted.join("") : undefined;
};

/** Undefined if a character has no such form. */
export const toSuperscript = (text: string): string | undefined => convert(text, superscripts);
export const toSubscript = (text: string): string | undefined => convert(text, subscripts);
