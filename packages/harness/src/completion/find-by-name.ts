/** Finds commands by some letters of their names. Pure. */

/** Returns commands whose names have all letters in their order: those that begin with them, then those that contain them. */
export function findByName<T extends { name: string }>(commands: readonly T[], letters: string): T[] {
  const ranked = commands.map((command) => ({ command, rank: rankName(command.name, letters) }));
  const matches = ranked.filter(({ rank }) => rank !== undefined).sort((a, b) => a.rank! - b.rank!);
  return matches.map(({ command }) => command);
}

/** Lower is better; undefined if letters are missing. */
function rankName(name: string, letters: string): number | undefined {
  const [text, wanted] = [name.toLowerCase(), letters.toLowerCase()];
  if (text.startsWith(wanted)) return 0;
  if (text.includes(wanted)) return 1;
  return hasInOrder(text, wanted) ? 2 : undefined;
}

function hasInOrder(text: string, letters: string): boolean {
  let index = -1;
  return [...letters].every((letter) => (index = text.indexOf(letter, index + 1)) !== -1);
}
