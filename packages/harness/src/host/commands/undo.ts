/** Commands that take back what prompts did to the files. A feature does it. */
import { type CommandParams, HarnessError, type UndoData } from "@tau/protocol";
import { flag, nonEmptyText, nullable, optional } from "@tau/config/fields";
import { type CommandContext, longCommand, type SomeCommands } from "./command.ts";

export const undoCommands = {
  undo: longCommand(
    {
      entryId: optional(nullable(nonEmptyText)),
      apply: optional(flag),
      digest: optional(nonEmptyText),
      conversation: optional(flag),
    },
    async (context, params) => {
      const data = await request(context, "undo", params);
      if (data.done && params.conversation && data.leafId !== undefined) await context.session.navigate(data.leafId);
      return data;
    },
  ),
  redo: longCommand({ apply: optional(flag), digest: optional(nonEmptyText) }, (context, params) =>
    request(context, "redo", params),
  ),
} satisfies SomeCommands;

/** Throws `unavailable` where nothing can take files back. */
async function request(
  { session }: CommandContext,
  direction: "undo" | "redo",
  params: CommandParams<"undo">,
): Promise<UndoData> {
  const answer = await session.requestUndo({ direction, ...params });
  if (answer?.data) return answer.data;
  if (answer?.problem !== undefined) throw new HarnessError("invalid_input", answer.problem);
  throw new HarnessError("unavailable", "Nothing here can take back files: the feature `undo` is turned off.");
}
