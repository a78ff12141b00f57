/** Questions of servers to the person: a form, or an address to open. */
import { isRecord } from "@tau/ai/internal";
import type { ExtensionUi } from "@tau/extensions";
import type { ElicitationAnswer } from "./ports.ts";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";

type Ui = Pick<ExtensionUi, "confirm" | "input" | "select" | "notify">;

interface ElicitOptions {
  ui: Ui;
  server: string;
  signal: AbortSignal;
}

const maxFields = 20;
const maxChoices = 100;

/** Forms must not ask for what lets somebody in. Servers that need it have an address for that. */
const secretWords =
  /pass(?:word|wort|code|phrase)|\bpwd\b|secret|api[-_ ]?key|private[-_ ]?key|access[-_ ]?token|\btoken\b|credential|\bpin\b|\bcvv\b|\bcvc\b|\botp\b|(?:one[- ]time|verification|security|2fa|mfa) code|seed phrase/i;

/** Never rejects, unless the surface does. */
export async function elicit(
  params: Readonly<Record<string, unknown>>,
  options: ElicitOptions,
): Promise<ElicitationAnswer> {
  const message = toVisible(String(params["message"] ?? "").slice(0, 2_000));
  return params["mode"] === "url"
    ? await askForAddress(params["url"], message, options)
    : await askForm(params["requestedSchema"], message, options);
}

async function askForAddress(
  url: unknown,
  message: string,
  { ui, server, signal }: ElicitOptions,
): Promise<ElicitationAnswer> {
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    ui.notify(`The MCP server ${server} wanted an address to be opened that is none. It was declined.`, "warning");
    return { action: "decline" };
  }
  const { host } = new URL(url);
  const lines = [message, `Host: ${toVisible(host)}`, `Address: ${toVisible(url)}`].filter((line) => line !== "");
  const isOpened = await ui.confirm(
    `The MCP server ${server} wants you to open a page of ${toVisible(host)}`,
    lines.join("\n"),
    { signal },
  );
  if (isOpened) ui.notify(`Open this address in your browser: ${toVisible(url)}`);
  return { action: isOpened ? "accept" : "decline" };
}

async function askForm(schema: unknown, message: string, options: ElicitOptions): Promise<ElicitationAnswer> {
  const { ui, server, signal } = options;
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = isRecord(schema) && Array.isArray(schema["required"]) ? schema["required"] : [];
  const fields = Object.entries(properties).filter((field): field is [string, Record<string, unknown>] =>
    isRecord(field[1]),
  );
  const secret = fields.find(([name, field]) => isAboutSecret(name, field));
  if (secret || (fields.length > 0 && secretWords.test(message))) {
    const what = secret ? toVisibleLine(secret[0], 60) : "a secret";
    ui.notify(
      `The MCP server ${server} asked you for ${what} in a form. That was declined: forms are not for secrets.`,
      "warning",
    );
    return { action: "decline" };
  }
  if (fields.length > maxFields) return { action: "decline" };
  const names = fields.map(([name, field]) => getTitle(name, field)).join(", ");
  const lines = [message, fields.length > 0 ? `It asks for: ${names}` : ""].filter((line) => line !== "");
  if (!(await ui.confirm(`The MCP server ${server} asks`, lines.join("\n"), { signal }))) return { action: "decline" };
  const content: NonNullable<ElicitationAnswer["content"]> = {};
  for (const [name, field] of fields) {
    const answer = await askField(name, field, { ...options, isRequired: required.includes(name) });
    if (answer === "cancelled") return { action: "cancel" };
    if (answer !== undefined) content[name] = answer;
  }
  return { action: "accept", content };
}

const isAboutSecret = (name: string, { title, description, format }: Record<string, unknown>): boolean =>
  format === "password" ||
  [name, title, description].some((text) => typeof text === "string" && secretWords.test(splitWords(text)));

/** `github_token` and `userPin` are two words each. */
const splitWords = (text: string): string => text.replaceAll("_", " ").replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2");

const getTitle = (name: string, { title }: Record<string, unknown>): string =>
  toVisibleLine(typeof title === "string" && title !== "" ? title : name, 100);

type Answer = string | number | boolean | string[] | undefined | "cancelled";

async function askField(
  name: string,
  field: Record<string, unknown>,
  { ui, server, signal, isRequired }: ElicitOptions & { isRequired: boolean },
): Promise<Answer> {
  const title = `${server}: ${getTitle(name, field)}${isRequired ? "" : " (optional)"}`;
  const choices = listChoices(field);
  if (field["type"] === "boolean") {
    const answer = await ui.select(title, ["Yes", "No"], { signal });
    return answer === undefined ? leaveOut(isRequired) : answer === "Yes";
  }
  if (choices && field["type"] !== "array") {
    const answer = await ui.select(
      title,
      choices.map(({ label }) => label),
      { signal },
    );
    return choices.find(({ label }) => label === answer)?.value ?? leaveOut(isRequired);
  }
  const hint = typeof field["description"] === "string" ? toVisibleLine(field["description"], 200) : undefined;
  const labels = choices?.map(({ label }) => label).join(", ");
  for (let attempt = 0; attempt < 3; attempt++) {
    const text = await ui.input(title, labels === undefined ? hint : `Some of: ${labels}`, { signal });
    if (text === undefined) return "cancelled";
    if (text.trim() === "" && !isRequired) return undefined;
    const parsed = parseAnswer(text.trim(), field, choices);
    if (parsed !== undefined) return parsed;
    ui.notify(`${getTitle(name, field)} is not valid.`, "warning");
  }
  return "cancelled";
}

/** A required field that is left out cancels the form. */
const leaveOut = (isRequired: boolean): undefined | "cancelled" => (isRequired ? "cancelled" : undefined);

interface Choice {
  label: string;
  value: string;
}

/** The values of the forms in which a schema lists them; undefined if it lists none. */
function listChoices(field: Record<string, unknown>): Choice[] | undefined {
  const source = isRecord(field["items"]) ? field["items"] : field;
  const titled: unknown = source["oneOf"] ?? source["anyOf"];
  if (Array.isArray(titled)) {
    const options = titled.filter(isRecord).filter((option) => typeof option["const"] === "string");
    return options.slice(0, maxChoices).map((option) => ({
      label: toVisibleLine(String(option["title"] ?? option["const"]), 200),
      value: option["const"] as string,
    }));
  }
  const values: unknown = source["enum"];
  if (!Array.isArray(values)) return undefined;
  const titles: unknown = source["enumNames"];
  return values
    .filter((value) => typeof value === "string")
    .slice(0, maxChoices)
    .map((value, index) => ({
      label: toVisibleLine(String((Array.isArray(titles) && titles[index]) || value), 200),
      value,
    }));
}

/** Undefined for a text that does not fit the field. */
function parseAnswer(
  text: string,
  field: Record<string, unknown>,
  choices: Choice[] | undefined,
): Exclude<Answer, "cancelled"> {
  const { type, minLength, maxLength, minimum, maximum } = field;
  if (type === "array") {
    const parts = text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
    const values = parts.map((part) => choices?.find(({ label, value }) => label === part || value === part)?.value);
    return values.every((value) => value !== undefined) ? values : undefined;
  }
  if (type === "number" || type === "integer") {
    const value = Number(text);
    const isNumber = text !== "" && Number.isFinite(value) && (type === "number" || Number.isInteger(value));
    const isInRange = value >= (toNumber(minimum) ?? -Infinity) && value <= (toNumber(maximum) ?? Infinity);
    return isNumber && isInRange ? value : undefined;
  }
  const isLength = text.length >= (toNumber(minLength) ?? 0) && text.length <= (toNumber(maxLength) ?? Infinity);
  return isLength ? text : undefined;
}

const toNumber = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
