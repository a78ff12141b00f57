/** Small drawings. They say nothing to a screen reader; the buttons around them do. */
import type { ComponentChildren } from "preact";

const Icon = ({ children }: { children: ComponentChildren }) => (
  <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    {children}
  </svg>
);

export const Logo = () => (
  <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <path d="M6 12.2C7.4 9.8 9 8.9 11.6 8.9H26v3.6h-6.8l-1.5 8.2c-.4 2 .2 2.9 1.7 2.9.9 0 1.8-.2 2.6-.7l.3 3c-1.2.7-2.5 1-3.9 1-3.5 0-5.1-2.1-4.4-5.8l1.6-8.6h-2.5c-1.5 0-2.3.5-3.3 1.9z" />
  </svg>
);

export const MenuIcon = () => (
  <Icon>
    <path d="M3 5.5h14M3 10h14M3 14.5h14" />
  </Icon>
);
export const PlusIcon = () => (
  <Icon>
    <path d="M10 4v12M4 10h12" />
  </Icon>
);
export const SearchIcon = () => (
  <Icon>
    <circle cx="9" cy="9" r="5" />
    <path d="m13 13 4 4" />
  </Icon>
);
export const SendIcon = () => (
  <Icon>
    <path d="M10 16V4M5 9l5-5 5 5" />
  </Icon>
);
export const StopIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" class="filled" />
  </Icon>
);
export const StopLaterIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" />
  </Icon>
);
export const TreeIcon = () => (
  <Icon>
    <circle cx="5" cy="4.5" r="1.8" />
    <circle cx="5" cy="15.5" r="1.8" />
    <circle cx="15" cy="8.5" r="1.8" />
    <path d="M5 6.3v7.4M5 12c0-2.5 3-3.5 8.2-3.5" />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="m5 5 10 10M15 5 5 15" />
  </Icon>
);
export const ImageIcon = () => (
  <Icon>
    <rect x="3" y="4" width="14" height="12" rx="2" />
    <circle cx="7.2" cy="8" r="1.2" />
    <path d="m4 15 4.5-4.5 3 3 2-2L17 15" />
  </Icon>
);
export const ChevronIcon = () => (
  <Icon>
    <path d="m7 4 6 6-6 6" />
  </Icon>
);
export const ArrowDownIcon = () => (
  <Icon>
    <path d="M10 4v12M5 11l5 5 5-5" />
  </Icon>
);
export const EditIcon = () => (
  <Icon>
    <path d="M4 16l.8-3.6L13 4.2a1.4 1.4 0 0 1 2 0l.8.8a1.4 1.4 0 0 1 0 2l-8.2 8.2z" />
  </Icon>
);
export const ThemeIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="6.5" />
    <path d="M10 3.5a6.5 6.5 0 0 1 0 13z" class="filled" />
  </Icon>
);
export const TrashIcon = () => (
  <Icon>
    <path d="M4 5.5h12M8 5.5V4h4v1.5M5.5 5.5l.8 10.5h7.4l.8-10.5M8.5 8.5v5M11.5 8.5v5" />
  </Icon>
);
export const ForkIcon = () => (
  <Icon>
    <circle cx="6" cy="4.5" r="1.8" />
    <circle cx="14" cy="4.5" r="1.8" />
    <circle cx="10" cy="15.5" r="1.8" />
    <path d="M6 6.3c0 3 4 2.5 4 7.4M14 6.3c0 3-4 2.5-4 7.4" />
  </Icon>
);
