/** Interfaces that were written for pi's terminal library find all of its names here. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as library from "../src/index.ts";

/** Names that versions 0.73.1 and 0.87.1 of pi's library export, and that examples and documents of 1.5.0 mention. */
const values = `
  allocateImageId Box calculateImageRows CancellableLoader CombinedAutocompleteProvider compositeTuiLine
  Container CURSOR_MARKER decodeKittyPrintable deleteAllKittyImages deleteKittyImage detectCapabilities Editor
  encodeITerm2 encodeKitty fuzzyFilter fuzzyMatch getCapabilities getCellDimensions getGifDimensions
  getImageDimensions getJpegDimensions getKeybindings getNativeClipboard getOsc8LinkAtColumn getPngDimensions
  getWebpDimensions HStack hyperlink Image imageFallback Input isFocusable isKeyRelease isKeyRepeat
  isKittyProtocolActive isViewportTUI Key KeybindingsManager Loader Markdown Marked matchesKey MouseRegion
  parseKey parseOsc11BackgroundColor parseTerminalColorSchemeReport ProcessTerminal renderFakeCursor renderImage renderLatex
  resetCapabilitiesCache ScrollView SelectList setCapabilities setCapabilityOverrides setCellDimensions
  setKeybindings setKittyProtocolActive SettingsList sliceByColumn Spacer StdinBuffer stripTerminalSequences
  Text TruncatedText truncateToWidth TUI TUI_KEYBINDINGS TuiAltScreen TuiMainScreen visibleWidth VStack
  wrapTextWithAnsi
`;
const types = `
  AutocompleteItem AutocompleteProvider AutocompleteSuggestions CellDimensions Component DefaultTextStyle
  EditorComponent EditorOptions EditorTheme Focusable FuzzyMatch ImageDimensions ImageOptions ImageProtocol
  ImageRenderOptions ImageTheme Keybinding KeybindingConflict KeybindingDefinition KeybindingDefinitions
  Keybindings KeybindingsConfig KeyEventType KeyId LoaderIndicatorOptions MarkdownOptions MarkdownTheme
  MouseRegionHandler NativeClipboard OverlayAnchor OverlayBounds OverlayHandle OverlayMargin OverlayOptions
  OverlayUnfocusOptions RenderLatexOptions RgbColor ScrollViewOptions ScrollViewScrollbar
  ScrollViewScrollToOptions SelectItem SelectListLayoutOptions SelectListTheme SelectListTruncatePrimaryContext
  SettingItem SettingsListTheme SizeValue SlashCommand StackChild StackEntry StackEntryOptions StackOptions
  StdinBufferEventMap StdinBufferOptions Terminal TerminalCapabilities TerminalColorScheme Token Tokens
  TuiAltScreenOptions TuiInputListener TuiInputListenerResult TuiMainScreenRenderState TuiMode TuiMouseButton
  TuiMouseEvent TuiMouseEventResult TuiMouseEventType TuiStopOptions ViewportTUI
`;

/** Names that are missing, and why. */
const missing = new Map([
  ["TuiMainScreenRenderState", "what is known of the rows of the main screen is private, and cannot be wrong"],
]);

const split = (names: string) => names.split(/\s+/).filter((name) => name !== "" && !missing.has(name));

test.each(split(values))("the library exports %s", (name) => {
  expect(library).toHaveProperty(name);
});

test("the library exports all types", async () => {
  const source = await readFile(join(import.meta.dirname, "../src/index.ts"), "utf8");
  const blocks = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map((match) => match[1] ?? "");
  const exported = new Set(blocks.flatMap((block) => block.match(/\w+(?=\s*(?:,|$))/g) ?? []));
  expect(split(types).filter((name) => !exported.has(name))).toEqual([]);
});

test("no name is excused that is there", () => {
  expect([...missing.keys()].filter((name) => name in library)).toEqual([]);
});
