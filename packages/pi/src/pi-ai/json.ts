/** JSON from models, which may be incomplete or slightly wrong. */
import type { ToolCall } from "@tau/ai";
import { isRecord, StreamingJson } from "@tau/ai/internal";

/** Escapes raw control characters in strings, and backslashes that begin no escape. */
export function repairJson(json: string): string {
  let isInString = false;
  let repaired = "";
  for (let index = 0; index < json.length; index++) {
    const char = json[index]!;
    if (!isInString) {
      isInString = char === '"';
      repaired += char;
    } else if (char === '"') {
      isInString = false;
      repaired += char;
    } else if (char === "\\") {
      const escape = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(json.slice(index, index + 6))?.[0];
      repaired += escape ?? "\\\\";
      index += (escape?.length ?? 1) - 1;
    } else repaired += char < " " ? escapeControl(char) : char;
  }
  return repaired;
}

const escapeControl = (char: string): string => JSON.stringify(char).slice(1, -1);

export function parseJsonWithRepair<T>(json: string): T {
  try {
    return JSON.parse(json) as T;
  } catch (error) {
    const repaired = repairJson(json);
    if (repaired === json) throw error;
    return JSON.parse(repaired) as T;
  }
}

type Arguments = Pick<ToolCall, "arguments" | "argumentsError">;

/** The arguments of a complete call. Text that is not an object gives `{}` and the reason. */
export function parseToolCallArguments(json: string | undefined): Arguments {
  if (json === undefined || json.trim() === "") return { arguments: {} };
  try {
    const value = parseJsonWithRepair<unknown>(json);
    if (isRecord(value)) return { arguments: value };
    return { arguments: {}, argumentsError: `The arguments are not a JSON object: ${json}` };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { arguments: {}, argumentsError: `The arguments are not valid JSON (${error.message}): ${json}` };
  }
}

/** The arguments of a call that is still being received. */
export class ToolCallArgumentsStream {
  #text = "";
  #parser = new StreamingJson();

  get text(): string {
    return this.#text;
  }

  append(delta: string): ToolCall["arguments"] {
    this.#text += delta;
    this.#parser.push(delta);
    return { ...this.#parser.value };
  }

  /** Takes the whole text. `delta` is what was missing, undefined if the text begins differently. */
  replace(text: string): { readonly delta: string | undefined; readonly arguments: ToolCall["arguments"] } {
    if (text.startsWith(this.#text)) {
      const delta = text.slice(this.#text.length);
      return { delta, arguments: this.append(delta) };
    }
    this.#text = "";
    this.#parser = new StreamingJson();
    return { delta: undefined, arguments: this.append(text) };
  }

  finish(): Arguments {
    return parseToolCallArguments(this.#text);
  }
}
