/** Files of `--output-schema` and `-o`. */
import { constants } from "node:fs";
import { access, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { JsonSchema } from "@tau/ai";
import { findSchemaFault, getErrorMessage } from "@tau/ai/internal";
import type { Io } from "../commands/command.ts";
import { UsageError } from "../process/errors.ts";
import { getAnswerText, type PromptResult } from "./prompt-end.ts";

/** Reads the schema, and checks that the answer can be written, before anything is sent. Throws `UsageError`. */
export async function prepareOutput(
  { outputSchema, output }: { outputSchema?: string; output?: string },
  { cwd }: Pick<Io, "cwd">,
): Promise<JsonSchema | undefined> {
  if (output !== undefined) await mustBeWritable(resolve(cwd, output));
  return outputSchema === undefined ? undefined : await readSchema(resolve(cwd, outputSchema));
}

async function mustBeWritable(path: string): Promise<void> {
  const file = await stat(path).catch(() => undefined);
  if (file?.isDirectory()) throw new UsageError("invalid_input", `-o: ${path} is a directory. Name a file in it.`);
  try {
    await access(file ? path : dirname(path), constants.W_OK);
  } catch (error) {
    throw new UsageError("invalid_input", `-o: ${path} cannot be written: ${getErrorMessage(error)}`, { cause: error });
  }
}

async function readSchema(path: string): Promise<JsonSchema> {
  try {
    const schema = JSON.parse(await readFile(path, "utf8")) as unknown;
    const fault = findSchemaFault(schema);
    if (fault === undefined) return schema as JsonSchema;
    throw new UsageError("invalid_input", `--output-schema: ${path} is not a JSON Schema: ${fault}`);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const message = `--output-schema: ${path} cannot be read: ${getErrorMessage(error)}`;
    throw new UsageError("invalid_input", message, { cause: error });
  }
}

/** Writes the answer, without keys. A file that is there stays as it is if there is none. */
export async function writeAnswer(
  path: string,
  result: PromptResult,
  { redactLine }: { redactLine: (text: string) => string },
): Promise<void> {
  const text = getAnswerText(result);
  if (text !== undefined) await writeFile(path, redactLine(text.endsWith("\n") ? text : `${text}\n`));
}
