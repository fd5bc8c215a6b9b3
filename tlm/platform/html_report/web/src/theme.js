// Light and dark: as the system says, or as the reader chose; always light on paper.

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = [];
let chosen = null; // "light", "dark" or null: the system's
let printing = false;

export const isDark = () => !printing && (chosen === null ? system.matches : chosen === "dark");

/** Calls back whenever the colours have to be others. */
export const onThemeChange = (call) => listeners.push(call);

function apply() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  for (const call of listeners) call();
}

export function toggleTheme() {
  chosen = isDark() ? "light" : "dark";
  apply();
}

export function startTheme() {
  system.addEventListener("change", apply);
  const setPrinting = (now) => () => {
    printing = now;
    apply();
  };
  addEventListener("beforeprint", setPrinting(true));
  addEventListener("afterprint", setPrinting(false));
  apply();
}

export const isPrinting = () => printing;

const light = {
  text: "#1c2530", faint: "#5d6b7a", line: "#d5dbe2", surface: "#ffffff",
  series: ["#2368b0", "#d9742b", "#3f8f63", "#a6508f", "#b38b12", "#66727f", "#c23f52", "#2b93a8"],
};
const dark = {
  text: "#e6ebf1", faint: "#9aa7b5", line: "#38434f", surface: "#1a2129",
  series: ["#6aa9e9", "#f0a066", "#74c596", "#d690c4", "#dfbd55", "#a3afbb", "#ee8190", "#6fc9da"],
};
export const colours = () => (isDark() ? dark : light);
