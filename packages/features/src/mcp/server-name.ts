/** Which names servers can have: they are shown in questions and named in requests. Pure. */
import { toVisible } from "../kit/visible-text.ts";

export const maxNameLength = 100;

/** Whether a name is one line in which everything can be seen. */
export const isServerName = (name: string): boolean =>
  name.trim() !== "" && name.length <= maxNameLength && !/[\n\t]/.test(name) && toVisible(name) === name;
