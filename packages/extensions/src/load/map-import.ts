/** Names that begin with `#` mean what the field `imports` of the package says. */
import { isRecord } from "@tau/ai/internal";

/** The target of the name, as written there; undefined if there is none. The longest pattern applies, as in Node. */
export function mapImport(name: string, imports: Readonly<Record<string, unknown>>): string | undefined {
  if (Object.hasOwn(imports, name)) return chooseTarget(imports[name]);
  const matches = Object.entries(imports).flatMap(([pattern, target]) => {
    const [before = "", after, ...more] = pattern.split("*");
    const fits = after !== undefined && more.length === 0 && name.startsWith(before) && name.endsWith(after);
    const part = fits ? name.slice(before.length, name.length - after.length) : "";
    return part === "" ? [] : [{ before, target, part }];
  });
  const [best] = matches.sort((a, b) => b.before.length - a.before.length);
  return best && chooseTarget(best.target)?.replaceAll("*", () => best.part);
}

/** Extensions are modules of both kinds. */
const conditions = new Set(["node", "import", "require", "default"]);

function chooseTarget(target: unknown): string | undefined {
  if (typeof target === "string") return target;
  const choices = Array.isArray(target)
    ? target
    : isRecord(target)
      ? Object.entries(target).flatMap(([condition, value]) => (conditions.has(condition) ? [value] : []))
      : [];
  return choices.map(chooseTarget).find((choice) => choice !== undefined);
}
