/** Theme files: from JSON text to a theme, or to everything that is wrong with it. */
import { colorForms, looksLikeColor, parseColor } from "./color.ts";
import { fillColors, themeTokens, tokenFallbacks } from "./tokens.ts";
import type { ThemeAppearance, ThemeDefinition, ThemeExportColors, ThemeToken } from "./tokens.ts";

export interface ThemeProblem {
  /** The key in the file, such as `colors.accent`; "" for the whole file. */
  readonly key: string;
  /** Says what is wrong: a sentence with the name of the source. */
  readonly message: string;
  /** Says what the key may be. */
  readonly allowed: string;
}

export type ParsedTheme =
  | { readonly theme: ThemeDefinition; readonly problems?: undefined }
  | { readonly theme?: undefined; readonly problems: readonly ThemeProblem[] };

/** The name that stands for colors made from the terminal's own. No file may have it. */
export const systemThemeName = "system";

const topKeys = ["$schema", "name", "appearance", "vars", "colors", "export"];
const exportKeys = ["pageBg", "cardBg", "infoBg"] as const;
const allowedColor = `${colorForms}, or the name of a variable`;

/**
 * Reads a theme file. `source` names the file in messages. All problems are reported, and a file that has one gives no
 * theme.
 */
export function parseTheme(text: string, source: string): ParsedTheme {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? makeSafe(error.message) : "unknown error";
    return { problems: [{ key: "", message: `${source} is not JSON: ${reason}.`, allowed: "a JSON object" }] };
  }
  if (!isObject(json)) {
    return { problems: [{ key: "", message: `${source} is not a theme.`, allowed: "a JSON object" }] };
  }
  return new ThemeReader(source).read(json);
}

type JsonObject = Readonly<Record<string, unknown>>;

class ThemeReader {
  readonly #source: string;
  readonly #problems: ThemeProblem[] = [];
  readonly #vars = new Map<string, unknown>();
  /** The colors of variables that are resolved; undefined for those that have a problem. */
  readonly #resolved = new Map<string, string | number | undefined>();

  constructor(source: string) {
    this.#source = source;
  }

  read(json: JsonObject): ParsedTheme {
    this.#rejectOthers(json, "", topKeys);
    if (json["$schema"] !== undefined && typeof json["$schema"] !== "string") {
      this.#reject("$schema", json["$schema"], "the address of a JSON schema");
    }
    const name = this.#readName(json["name"]);
    const appearance = this.#readAppearance(json["appearance"]);
    this.#readVars(json["vars"]);
    const colors = this.#readColors(json["colors"]);
    const exported = this.#readExport(json["export"]);
    if (this.#problems.length > 0) return { problems: this.#problems };
    return { theme: { name, ...(appearance && { appearance }), colors, ...(exported && { export: exported }) } };
  }

  #readName(value: unknown): string {
    const isName = typeof value === "string" && /^[^/\p{Cc}]+$/u.test(value) && value.trim() === value;
    if (isName && value !== systemThemeName) return value;
    const reason = value === systemThemeName ? ` The name "${systemThemeName}" is reserved.` : "";
    this.#reject("name", value, `a name without "/", other than "${systemThemeName}"`, reason);
    return "";
  }

  #readAppearance(value: unknown): ThemeAppearance | undefined {
    if (value === undefined || value === "dark" || value === "light") return value;
    this.#reject("appearance", value, '"dark" or "light"');
    return undefined;
  }

  #readVars(value: unknown): void {
    if (value === undefined) return;
    if (!isObject(value)) return this.#reject("vars", value, "an object of colors by name");
    for (const [name, color] of Object.entries(value)) this.#vars.set(name, color);
    for (const name of this.#vars.keys()) this.#resolveVariable(name);
  }

  #readColors(value: unknown): Record<ThemeToken, string | number> {
    const colors: Partial<Record<ThemeToken, string | number>> = {};
    if (!isObject(value)) this.#reject("colors", value, "an object with a color for each key");
    else {
      this.#rejectOthers(value, "colors.", themeTokens);
      for (const token of themeTokens) {
        if (!Object.hasOwn(value, token) && tokenFallbacks[token] !== undefined) continue;
        colors[token] = this.#readColor(`colors.${token}`, value[token]) ?? "";
      }
    }
    return fillColors(colors as Record<ThemeToken, string | number>);
  }

  #readExport(value: unknown): ThemeExportColors | undefined {
    if (value === undefined) return undefined;
    const colors: { -readonly [Key in keyof ThemeExportColors]: ThemeExportColors[Key] } = {};
    if (!isObject(value)) this.#reject("export", value, `an object with ${exportKeys.join(", ")}`);
    else {
      this.#rejectOthers(value, "export.", exportKeys);
      for (const key of exportKeys) {
        if (Object.hasOwn(value, key)) colors[key] = this.#readColor(`export.${key}`, value[key]) ?? "";
      }
    }
    return colors;
  }

  #readColor(key: string, value: unknown): string | number | undefined {
    if (typeof value !== "string" || looksLikeColor(value)) {
      if (parseColor(value) !== undefined) return value as string | number;
      this.#reject(key, value, allowedColor);
      return undefined;
    }
    if (this.#vars.has(value)) return this.#resolveVariable(value);
    this.#reject(key, value, allowedColor, ` There is no variable ${show(value)}.`);
    return undefined;
  }

  /** Follows variables to a color. Each variable is looked at once, and its problems are reported once. */
  #resolveVariable(name: string): string | number | undefined {
    const chain: string[] = [];
    const seen = new Set<string>();
    let current = name;
    while (!this.#resolved.has(current)) {
      if (seen.has(current)) {
        const circle = [...chain.slice(chain.indexOf(current)), current];
        this.#reject(
          `vars.${current}`,
          this.#vars.get(current),
          allowedColor,
          ` It refers to itself: ${list(circle)}.`,
        );
        this.#resolved.set(current, undefined);
        break;
      }
      chain.push(current);
      seen.add(current);
      const value = this.#vars.get(current);
      if (typeof value !== "string" || !this.#vars.has(value) || looksLikeColor(value)) {
        this.#resolved.set(current, this.#readColor(`vars.${current}`, value));
      } else current = value;
    }
    const color = this.#resolved.get(current);
    for (const link of chain) this.#resolved.set(link, color);
    return color;
  }

  #rejectOthers(value: JsonObject, prefix: string, keys: readonly string[]): void {
    for (const key of Object.keys(value)) {
      if (keys.includes(key)) continue;
      const message = `${this.#source}: ${show(prefix + key)} is not a key of a theme.`;
      this.#problems.push({ key: prefix + key, message, allowed: keys.join(", ") });
    }
  }

  #reject(key: string, value: unknown, allowed: string, reason = ""): void {
    const what = value === undefined ? "is missing" : `is not valid: ${show(value)}`;
    this.#problems.push({ key, message: `${this.#source}: ${makeSafe(key)} ${what}.${reason}`, allowed });
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Messages are shown on terminals, so that nothing in a file may reach them as a control character. */
const makeSafe = (text: string): string => text.replace(/\p{Cc}/gu, "?");

function show(value: unknown): string {
  const text = makeSafe(JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

const list = (names: readonly string[]): string =>
  [...names.slice(0, 6), ...(names.length > 6 ? ["…"] : [])].map(makeSafe).join(" → ");
