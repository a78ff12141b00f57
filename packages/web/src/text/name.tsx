/** A name or a path that somebody chose, on one line. What it holds has no effect on the text around it. */
import { toSafeName } from "./visible-text.ts";

export const Name = ({ text }: { text: string }) => <bdi>{toSafeName(text)}</bdi>;
