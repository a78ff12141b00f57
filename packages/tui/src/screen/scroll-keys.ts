/** Keys that scroll a full screen. */
import type { Component } from "../component.ts";
import type { ScrollView } from "../components/scroll-view.ts";
import { getKeybindings, type Keybinding } from "../keys/keybindings.ts";
import { getScrollViewBox, type LayoutFrame } from "../layout.ts";
import { findPrompt } from "./prompts.ts";

/** Lines that stay visible when a page is scrolled. */
const pageOverlap = 4;

type ScrollAction = Exclude<Extract<Keybinding, `tui.altScreen.${string}`>, `tui.altScreen.search${string}`>;

const getPage = (view: ScrollView) => Math.max(1, view.viewportHeight - pageOverlap);
const getHalfPage = (view: ScrollView) => Math.max(1, Math.floor(view.viewportHeight / 2));

const scrollActions: Record<ScrollAction, (view: ScrollView, frame: LayoutFrame | undefined) => void> = {
  "tui.altScreen.pageUp": (view) => view.scrollBy(-getPage(view)),
  "tui.altScreen.pageDown": (view) => view.scrollBy(getPage(view)),
  "tui.altScreen.halfPageUp": (view) => view.scrollBy(-getHalfPage(view)),
  "tui.altScreen.halfPageDown": (view) => view.scrollBy(getHalfPage(view)),
  "tui.altScreen.lineUp": (view) => view.scrollBy(-1),
  "tui.altScreen.lineDown": (view) => view.scrollBy(1),
  "tui.altScreen.previousPrompt": (view, frame) => scrollToPrompt(view, frame, -1),
  "tui.altScreen.nextPrompt": (view, frame) => scrollToPrompt(view, frame, 1),
  "tui.altScreen.top": (view) => view.scrollToStart(),
  "tui.altScreen.bottom": (view) => view.scrollToEnd(),
};

function scrollToPrompt(view: ScrollView, frame: LayoutFrame | undefined, direction: -1 | 1): void {
  const lines = frame && getScrollViewBox(frame, view)?.children[0]?.scrolledLines;
  const line = lines && findPrompt(lines, view.scrollTop, direction);
  if (line !== undefined) view.scrollTo(line);
}

/** Whether the key scrolled the view. */
export function scrollByKey(data: string, view: ScrollView, frame: LayoutFrame | undefined): boolean {
  const keys = getKeybindings();
  const action = (Object.keys(scrollActions) as ScrollAction[]).find((id) => keys.matches(data, id));
  if (action) scrollActions[action](view, frame);
  return action !== undefined;
}

/** Whether a component gets the keys that scroll. An editor needs them while it shows suggestions. */
export const usesScrollKeys = (component: Component | null): boolean =>
  component !== null &&
  (component.wantsPageKeys === true ||
    ("isShowingAutocomplete" in component &&
      typeof component.isShowingAutocomplete === "function" &&
      component.isShowingAutocomplete() === true));
