// The page: languages, translation while typing, files, colours.

import { Problem, get, hasKey, post, postFile, useKey } from "./asking.js";
import * as translation from "./translation.js";

const PAUSE_MS = 250; // after the last key, before the server is asked
const $ = (id) => document.getElementById(id);
const text = $("text"), source = $("source"), target = $("target");
const answer = $("translation"), problem = $("problem"), status = $("status");

let settings = { charLimit: Infinity, fileSizeLimit: Infinity, supportedFilesFormat: [] };
let loaded = []; // languages that can be translated from: {code, name, targets}
let detected = null;

// Translation while typing: one question at a time counts, the latest; older ones are taken back.

let latest = 0, timer = 0, asking = null;

function soon(milliseconds) {
  clearTimeout(timer);
  asking?.abort();
  latest += 1;
  timer = setTimeout(translate, milliseconds, latest);
}

async function translate(number) {
  const q = text.value;
  if (!q.trim() || q.length > settings.charLimit || (settings.keyRequired && !hasKey())) {
    showSentences([]);
    return tell(q.length > settings.charLimit ? tooLong(q.length) : "");
  }
  asking = new AbortController();
  const slow = setTimeout(() => answer.classList.add("waiting"), 200);
  try {
    const pair = { source: source.value, target: target.value };
    const found = await post("sentences", { q, ...pair }, asking.signal);
    if (number !== latest) return;
    detected = found.detectedLanguage?.language ?? null;
    showSentences(found.sentences, { source: detected ?? pair.source, target: pair.target });
    tell("");
    status.textContent = "Translated.";
  } catch (error) {
    if (number !== latest) return;
    fail(error);
    if (error.retryAfter) timer = setTimeout(translate, 1000 * error.retryAfter, number);
  } finally {
    clearTimeout(slow);
    if (number === latest) answer.classList.remove("waiting");
  }
}

function showSentences(sentences, pair = { source: source.value, target: target.value }) {
  $("document").hidden = true;
  answer.hidden = false;
  answer.lang = pair.target;
  translation.show(sentences, pair);
  $("copy").hidden = $("hint").hidden = sentences.length === 0;
  showSource();
}

function tell(sentence) {
  problem.textContent = sentence;
}

function fail(error) {
  if (!(error instanceof Problem)) throw error;
  if (error.needsKey) $("key-form").hidden = false;
  tell(error.message);
}

function tooLong(length) {
  const over = (length - settings.charLimit).toLocaleString("en");
  return `The text is ${over} characters longer than this server takes at once. A file may be longer.`;
}

function count() {
  const most = settings.charLimit;
  $("count").textContent = text.value ? `${text.value.length.toLocaleString("en")} / ${most.toLocaleString("en")}` : "";
  $("count").classList.toggle("over", text.value.length > most);
  $("clear").hidden = text.value === "";
  translation.reflect();
}

text.addEventListener("input", () => {
  count();
  soon(PAUSE_MS);
});

$("clear").addEventListener("click", () => {
  text.value = "";
  count();
  soon(0);
  text.focus();
});

$("copy").addEventListener("click", async () => {
  await copy(translation.whole());
  $("copy").textContent = "Copied";
  status.textContent = "The translation was copied.";
  setTimeout(() => ($("copy").textContent = "Copy"), 1500);
});

async function copy(words) {
  if (navigator.clipboard) return navigator.clipboard.writeText(words);
  const field = document.createElement("textarea"); // without encryption, browsers give pages no clipboard
  field.value = words;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}

// Languages

function option(code, name) {
  return new Option(name, code);
}

function nameOf(code) {
  return loaded.find((each) => each.code === code)?.name ?? names.get(code) ?? code;
}

const names = new Map();

function fillTargets() {
  const before = target.value;
  const codes = source.value === "auto" ? loaded.flatMap((each) => each.targets)
    : loaded.find((each) => each.code === source.value)?.targets ?? [];
  target.replaceChildren(...[...new Set(codes)].map((code) => option(code, nameOf(code))));
  if (codes.includes(before)) target.value = before;
}

function showSource() {
  const from = source.value === "auto" ? detected : source.value;
  const auto = source.querySelector('option[value="auto"]');
  if (auto) auto.textContent = detected ? `Detected: ${nameOf(detected)}` : "Detect the language";
  if (from) text.lang = from;
  $("swap").disabled = !loaded.some((each) => each.code === target.value && each.targets.includes(from));
}

for (const select of [source, target]) {
  select.addEventListener("change", () => {
    if (select === source) fillTargets();
    detected = null;
    showSource();
    soon(0);
  });
}

$("swap").addEventListener("click", () => {
  const from = source.value === "auto" ? detected : source.value;
  source.value = target.value;
  fillTargets();
  target.value = from;
  if (translation.whole().trim()) text.value = translation.whole();
  count();
  showSource();
  soon(0);
});

// Files

$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => {
  if ($("file").files[0]) translateFile($("file").files[0]);
  $("file").value = "";
});

async function translateFile(file) {
  const known = settings.supportedFilesFormat;
  if (!known.some((suffix) => file.name.toLowerCase().endsWith(suffix)))
    return tell(`${file.name} cannot be translated; there are ${known.join(", ")}.`);
  if (file.size > settings.fileSizeLimit)
    return tell(`${file.name} is larger than ${settings.fileSizeLimit / 1e6} MB, the most that this server takes.`);
  soon(0);
  clearTimeout(timer);
  tell("");
  showDocument(file.name, "Translating…");
  status.textContent = `Translating ${file.name}.`;
  const number = latest;
  try {
    const pair = { source: source.value, target: target.value };
    const { translatedFileUrl, leftLines } = await postFile("translate_file", file, pair);
    if (number !== latest) return;
    const link = document.createElement("a");
    link.href = new URL(translatedFileUrl).pathname;
    link.className = "download";
    link.textContent = "Download the translation";
    const left = leftLines.length ? `Left as it was, to keep codes or numbers: line ${leftLines.join(", ")}.` : "";
    showDocument(file.name, link, left);
    status.textContent = `${file.name} is translated.`;
  } catch (error) {
    if (number !== latest) return;
    showSentences([]);
    fail(error);
  }
}

function showDocument(name, ...content) {
  const title = document.createElement("p");
  title.className = "name";
  title.textContent = name;
  answer.hidden = $("copy").hidden = $("hint").hidden = true;
  $("document").hidden = false;
  $("document").replaceChildren(title, ...content);
}

let depth = 0; // dragenter and dragleave come for every element on the way
const isFile = (event) => event.dataTransfer?.types.includes("Files");
addEventListener("dragenter", (event) => {
  if (isFile(event)) $("drop").hidden = (depth += 1) < 1;
});
addEventListener("dragleave", (event) => {
  if (isFile(event)) $("drop").hidden = (depth -= 1) < 1;
});
addEventListener("dragover", (event) => isFile(event) && event.preventDefault());
addEventListener("drop", (event) => {
  if (!isFile(event)) return;
  event.preventDefault();
  depth = 0;
  $("drop").hidden = true;
  translateFile(event.dataTransfer.files[0]);
});

// Colours: those of the system until the reader chooses

const dark = matchMedia("(prefers-color-scheme: dark)");
function paint() {
  const theme = localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  $("theme").setAttribute("aria-pressed", theme === "dark");
}
dark.addEventListener("change", paint);
$("theme").addEventListener("click", () => {
  localStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  paint();
});
paint();

// The beginning

$("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  useKey($("key").value.trim());
  $("key-form").hidden = true;
  soon(0);
});

async function begin() {
  try {
    [loaded, settings] = await Promise.all([get("languages"), get("frontend/settings")]);
  } catch (error) {
    fail(error);
    return setTimeout(begin, 3000);
  }
  tell("");
  for (const code of loaded.flatMap((each) => each.targets))
    names.set(code, new Intl.DisplayNames(["en"], { type: "language" }).of(code));
  source.replaceChildren(...loaded.map((each) => option(each.code, each.name)));
  if (loaded.length > 1) source.prepend(option("auto", "Detect the language"));
  source.value = settings.language.source.code;
  fillTargets();
  target.value = settings.language.target.code;
  $("models").textContent = settings.models.join(" · ");
  $("file").accept = settings.supportedFilesFormat.join(",");
  $("key-form").hidden = !settings.keyRequired || hasKey();
  showSource();
  count();
  if (text.value) soon(0); // what the browser kept from the last visit
}
begin();
