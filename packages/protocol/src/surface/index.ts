/** Everything that more than one surface shows: commands, titles, rows, pages and their texts. Runs in a browser. */
export {
  type CellDetails,
  type CodeExcerpt,
  type CodePlace,
  type CodeSeverity,
  countPlaces,
  type DebuggerStop,
  type DebuggerVariable,
  describePlace,
  describeStop,
  type ExcerptLine,
  formatPlace,
  formatVariable,
  getCellResult,
  listExcerptLines,
  type ParsedPlaces,
  parsePlaces,
  parseStop,
  type PlacesDetails,
  type StackFrame,
  type StepDetails,
} from "../code-places.ts";
export { getActivity } from "./activity.ts";
export { type AdviceSurface, emptyAnswerText, getFailureAdvice, isEmptyAnswer } from "./answer-advice.ts";
export {
  findChoiceIndex,
  formatTimeLeft,
  getTimeLeftMs,
  listCommandLines,
  toAllowAnswer,
  toDenyAnswer,
} from "./approval-text.ts";
export { getCallSubject, getDiffs, getPartialSubject, getPartialText, listOutcomeNotes } from "./call-title.ts";
export { applyCompletion, type TakenText } from "./completion.ts";
export { getFoldedLines } from "./folded-message.ts";
export { chooseCopiedText, type CopiedText, describeCodeBlock } from "./copied-text.ts";
export { formatSentMessage } from "./sent-message.ts";
export { describeAddedDirectory, describeDirectories } from "./directories.ts";
export { describeAnyEntry, describeEntry, type EntryDescription, formatModelChange } from "./describe-entry.ts";
export {
  type DiffLine,
  type DiffRow,
  diffSigns,
  getNumberWidth,
  parseDiff,
  parseDiffs,
  parseTextWithDiffs,
} from "./diff.ts";
export { findLastAnswerText, getAddedText, getAnswerText, getUserText, joinTexts } from "./entry-text.ts";
export { type Fields, getNumber, getText, toFields } from "./fields.ts";
export { formatAge, formatTokens, pluralise } from "./format.ts";
export { describeNestedState, EndedCalls, hasSameRows, maxNestedRows, type NestedCallRow } from "./nested-calls.ts";
export {
  describeUnknownCommand,
  findOtherCommand,
  isRootDirectory,
  type OtherCommand,
  otherCommandNames,
} from "./other-commands.ts";
export {
  getSessionTitle,
  type SessionPage,
  SessionPages,
  type SessionPagesOptions,
  type SessionQuery,
  sessionSorts,
} from "./session-pages.ts";
export {
  type ExcerptPart,
  type MessageQuery,
  MessageSearch,
  type MessageSearchOptions,
  splitExcerpt,
} from "./message-search.ts";
export { listThreads, type ThreadRow } from "./session-threads.ts";
export {
  createTree,
  findTreeRow,
  listTreeRows,
  type RowOptions,
  toTreeTarget,
  type Tree,
  type TreeItem,
  type TreeNode,
  type TreeRow,
  type TreeTarget,
} from "./tree-rows.ts";
export {
  type CommandElsewhere,
  type CommandHere,
  findCommandHere,
  formatUsage,
  isCommandStart,
  isSlashCommandName,
  listCommandsHere,
  parseSlashCommand,
  parseTypedCommand,
  type ShownCommand,
  type SlashCommandInfo,
  type SlashCommandName,
  slashCommandNames,
  slashCommands,
  type SlashCommandText,
  type SurfaceCommand,
  type SurfaceCommands,
  type TypedCommand,
} from "./slash-commands.ts";
export {
  describeUsageLimit,
  formatUsageLimit,
  getUsageBars,
  isNearLimit,
  type UsageFigure,
  usageTables,
} from "./usage-figures.ts";
