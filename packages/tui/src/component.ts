/**
 * The interface of everything on the screen. Names and contract are pi's, so that interfaces written for it run here.
 */
import type { TuiMouseEvent, TuiMouseEventResult } from "./mouse.ts";

export interface Component {
  /**
   * The lines of the component, none wider than `width` columns. While nothing changes, the same array should come back:
   * the renderer compares arrays by identity before it looks into them, and never changes one.
   */
  render(width: number): string[];
  /** Gets one key, or one paste, at a time while the component has the focus. */
  handleInput?(data: string): void;
  /** Only in full-screen mode. */
  handleMouse?(event: TuiMouseEvent): TuiMouseEventResult | undefined;
  /** Whether `handleInput` also gets releases of keys, from terminals that report them. Default false. */
  wantsKeyRelease?: boolean;
  /** Whether it uses the keys that scroll a full screen, such as those for pages. Default false. */
  readonly wantsPageKeys?: boolean;
  /**
   * Whether it shows only what is happening now, such as an editor or a status line: in the main screen, lines of it that have no
   * room are left out, instead of going to the scrollback. Default false.
   */
  readonly isEphemeral?: boolean;
  /**
   * How many lines of `render(width)`, from the first, will stay as they are. In the main screen only those go to the scrollback:
   * what may still change is printed when it is finished, and so is everything that follows it. Default: all lines.
   */
  countFinished?(width: number): number;
  /** Forgets everything that was computed from the theme or the width. */
  invalidate(): void;
}

/** A component with a cursor. While `focused`, it writes `CURSOR_MARKER` before the cursor, for input methods. */
export interface Focusable {
  /** Set by whoever moves the focus. */
  focused: boolean;
}

export const isFocusable = (component: Component | null): component is Component & Focusable =>
  component !== null && "focused" in component;

/** Where the cursor of the terminal belongs. No terminal shows it, and the renderer takes it out. */
export const CURSOR_MARKER = "\x1b_pi:c\x07";

const reverse = "\x1b[7m";

/**
 * A cell that looks like a cursor: the character there, or a blank. Directly after `CURSOR_MARKER` it is drawn as it is while the
 * terminal shows its own cursor.
 */
export const renderFakeCursor = (cell: string): string => `${reverse}${cell}\x1b[27m`;

/** The line without a cursor that is drawn where the terminal shows its own. */
export const hideFakeCursor = (line: string): string =>
  line.includes(CURSOR_MARKER) ? line.replaceAll(CURSOR_MARKER + reverse, CURSOR_MARKER) : line;
