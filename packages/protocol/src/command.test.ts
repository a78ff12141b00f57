import { describe, expect, test } from "vitest";
import { commandNames, type CommandName, commandScopes, isCommandName, type Scope } from "./command.ts";

/** Which scope each command needs: a change here changes what a client with that scope may do. */
const expected: Record<Scope, readonly CommandName[]> = {
  read: [
    "complete",
    "get_available_models",
    "get_available_thinking_levels",
    "get_commands",
    "get_entries",
    "get_fork_messages",
    "get_last_assistant_text",
    "get_messages",
    "get_policy",
    "get_providers",
    "get_questions",
    "get_session_stats",
    "get_settings",
    "get_state",
    "get_tools",
    "get_tree",
    "get_trust",
    "initialize",
    "list_jobs",
    "list_sessions",
    "list_settings",
    "read_job",
    "search_sessions",
  ],
  write: [
    "abort",
    "abort_retry",
    "branch",
    "clear_queue",
    "clone",
    "compact",
    "cycle_model",
    "cycle_thinking_level",
    "delete_session",
    "edit_queued",
    "execute",
    "follow_up",
    "fork",
    "kill_job",
    "navigate",
    "new_session",
    "prompt",
    "redo",
    "remove_queued",
    "rename_session",
    "restore_session",
    "resume",
    "set_auto_compaction",
    "set_auto_retry",
    "set_follow_up_mode",
    "set_label",
    "set_model",
    "set_session_name",
    "set_steering_mode",
    "set_thinking_level",
    "steer",
    "switch_session",
    "undo",
  ],
  approve: ["approve", "set_permission_mode"],
  admin: [
    "abort_bash",
    "abort_login",
    "add_directory",
    "bash",
    "export_html",
    "export_jsonl",
    "get_usage_report",
    "import_session",
    "login",
    "logout",
    "paste_login",
    "reload",
    "set_setting",
    "set_tools",
    "set_trust",
    "write_bug_report",
  ],
};

const scopes = Object.keys(expected) as Scope[];

describe("every command", () => {
  test.each(scopes)("that needs the scope %s is known, and no other needs it", (scope) => {
    const named = commandNames.filter((name) => commandScopes[name] === scope);
    expect(named.toSorted()).toEqual(expected[scope]);
  });

  test("has exactly one scope, and none is left out", () => {
    expect(Object.values(expected).flat().toSorted()).toEqual(commandNames.toSorted());
    expect(new Set(commandNames).size).toBe(commandNames.length);
  });

  test.each(commandNames)("%s is recognised by its name, which is snake case", (name) => {
    expect(isCommandName(name)).toBe(true);
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  // The report names every directory that the user works in, also to a client that sees a single session.
  const isReading = (name: CommandName) => name.startsWith("get_") && name !== "get_usage_report";
  test.each(commandNames.filter(isReading))("%s only reads", (name) => {
    expect(commandScopes[name]).toBe("read");
  });
});

test.each(["", "Prompt", "prompt ", "get-state", "toString", "constructor", "__proto__", "hasOwnProperty"])(
  "%j is not a command",
  (name) => {
    expect(isCommandName(name)).toBe(false);
  },
);
