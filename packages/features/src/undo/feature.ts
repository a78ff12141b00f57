/** Undo: takes back what prompts did to the files, commands included. */
import { existsSync } from "node:fs";
import type { Feature, FeaturePlace } from "@tau/extensions";
import { getJournalPath } from "./project-directory.ts";
import { undoSettings } from "./settings.ts";

export const undoCommand = {
  name: "undo",
  description: "Take back what the last prompt did to the files, or all up to an entry: /undo [ENTRY] [--yes]",
};

export const redoCommand = { name: "redo", description: "Do again what /undo took back: /redo [--yes]" };

export const diffCommand = { name: "diff", description: "Show what this session did to the files" };

const isHalfDone = ({ agentDir, cwd }: FeaturePlace): boolean => existsSync(getJournalPath(agentDir, cwd));

/** The feature `undo`. */
export const undo = (): Feature => ({
  name: "undo",
  summary: "Takes back what a prompt did to the files, also by commands, and does it again.",
  commands: [undoCommand, redoCommand, diffCommand],
  settings: undoSettings,
  programCommands: [
    {
      name: "undo",
      summary: "Take back what the last prompt of a session did to the files",
      usage: [
        "tau undo [--yes] [--session ID] [--list]  Take back the last prompt of the last session here; --list: list them",
      ],
      run: async (context) => await (await import("./program.ts")).runUndoCommand(context),
    },
  ],
  // What a killed process left half done is brought back.
  opensWithSession: isHalfDone,
  loadsBeforeChanges: () => true,
  load: async (place) => (await import("./undo.ts")).createUndoExtension(place),
});
