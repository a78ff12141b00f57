const asIs = (text: string): string => text;
const second = (_color: string, text: string): string => text;
const none = (): string => "";
const getAsIs = () => asIs;

/** Styles nothing: where no terminal is known, text without colours can be shown everywhere. */
export const plainTheme = {
  name: "plain",
  fg: second,
  bg: second,
  style: asIs,
  bold: asIs,
  dim: asIs,
  italic: asIs,
  underline: asIs,
  inverse: asIs,
  strikethrough: asIs,
  getFgAnsi: none,
  getBgAnsi: none,
  getThinkingBorderColor: getAsIs,
  getBashModeBorderColor: getAsIs,
};
