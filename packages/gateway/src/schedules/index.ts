export { openScheduleParts } from "./open-schedule-parts.ts";
export type { ScheduleRecord } from "./records.ts";
export { ScheduleTable } from "./records.ts";
export type { Schedules } from "./schedules.ts";
export { openScheduleStore, type ScheduleStore } from "./store.ts";
