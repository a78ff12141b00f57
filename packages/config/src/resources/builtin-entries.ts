/** Entries of the setting `extensions` that turn a part of the program on or off, such as `-builtin:mcp`. Pure. */

const pattern = /^([+-]?)builtin:(.+)$/;

/** Features that pi has under another name. */
const otherNames: Readonly<Record<string, string>> = { "tool-search": "discovery" };

export const isBuiltinEntry = (entry: string): boolean => pattern.test(entry);

/** Returns for each feature that is named whether it is on. The last entry of a name applies. */
export function readBuiltinChoices(entries: readonly string[]): ReadonlyMap<string, boolean> {
  const choices = new Map<string, boolean>();
  for (const entry of entries) {
    const [, sign, name = ""] = pattern.exec(entry) ?? [];
    if (name !== "") choices.set(Object.hasOwn(otherNames, name) ? otherNames[name]! : name, sign !== "-");
  }
  return choices;
}
