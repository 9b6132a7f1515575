// The translation as sentences that can be pointed at: marks in both panes, other translations on a click.

import { post } from "./asking.js";

const $ = (id) => document.getElementById(id);
const mirror = $("mirror"), text = $("text"), translation = $("translation"), choices = $("choices");

let sentences = []; // {source, target}: all sources together are the text, all targets its translation
let languages = { source: "", target: "" };
const picked = new Map(); // what the reader chose for a sentence; stays while the sentence does
let opened = null; // the sentence and word whose choices are shown

export function show(found, pair) {
  if (pair.source !== languages.source || pair.target !== languages.target) picked.clear();
  languages = pair;
  sentences = found.map(({ source, target }) => ({ source, target: picked.get(source) ?? target }));
  close();
  render();
}

export function whole() {
  return sentences.map((each) => each.target).join("");
}

function render() {
  translation.replaceChildren(...sentences.flatMap(elements));
  reflect();
}

// The marks under the text; what was typed since the last answer is not marked.
export function reflect(marked = null) {
  const covered = sentences.map((each) => each.source).join("");
  if (!text.value.startsWith(covered) || covered === "") {
    mirror.textContent = text.value + "\u200b";
    return;
  }
  const parts = sentences.flatMap(({ source }, index) => {
    const body = source.trim();
    if (index !== marked || !body) return [source];
    const span = document.createElement("span");
    span.className = "marked";
    span.textContent = body;
    return source.split(body, 1).concat(span, source.slice(source.indexOf(body) + body.length));
  });
  mirror.replaceChildren(...parts, text.value.slice(covered.length) + "\u200b");
}

function mark(index) {
  for (const each of translation.querySelectorAll(".sentence"))
    each.classList.toggle("marked", Number(each.dataset.index) === index);
  reflect(index);
}

// A sentence, between the white space that surrounds it
function elements({ target }, index) {
  const body = target.trim();
  if (!body) return [target];
  const start = target.indexOf(body);
  const span = document.createElement("span");
  span.append(...words(body, start));
  span.className = "sentence";
  span.tabIndex = 0;
  span.setAttribute("role", "button");
  span.setAttribute("aria-haspopup", "listbox");
  span.dataset.index = index;
  return [target.slice(0, start), span, target.slice(start + body.length)];
}

function words(body, offset) {
  const cut = (piece, at, isWord) => {
    if (!isWord) return piece;
    const word = document.createElement("span");
    word.className = "word";
    word.dataset.at = at;
    word.textContent = piece;
    return word;
  };
  if (Intl.Segmenter) {
    const segments = new Intl.Segmenter(languages.target, { granularity: "word" }).segment(body);
    return [...segments].map((each) => cut(each.segment, offset + each.index, each.isWordLike));
  }
  let at = offset;
  return body.split(/(\s+)/).map((piece) => {
    at += piece.length;
    return cut(piece, at - piece.length, piece.trim() !== "");
  });
}

async function open(sentence, word) {
  const { source, target } = sentences[sentence.dataset.index];
  const lead = target.length - target.trimStart().length;
  const at = word ? Number(word.dataset.at) : lead;
  close();
  opened = { sentence, word };
  word?.classList.add("chosen");
  sentence.setAttribute("aria-expanded", "true");
  choices.hidden = false;
  list([], "Looking for other translations…");
  const here = opened;
  try {
    const fields = { q: source.trim(), ...languages, prefix: target.slice(lead, at), alternatives: 6 };
    const { alternatives } = await post("alternatives", fields);
    if (opened === here) list(alternatives.filter((each) => each !== target.trim()), "No other translation.", at - lead);
  } catch (problem) {
    if (opened === here) list([], problem.message);
  }
}

function list(options, otherwise, same = 0) {
  const items = options.map((option) => {
    const item = document.createElement("li");
    const beginning = document.createElement("span");
    beginning.className = "same";
    beginning.textContent = option.slice(0, same);
    item.append(beginning, option.slice(same));
    item.setAttribute("role", "option");
    item.tabIndex = -1;
    item.lang = languages.target;
    item.addEventListener("click", () => choose(option));
    return item;
  });
  if (!items.length) {
    const item = document.createElement("li");
    item.className = "nothing";
    item.setAttribute("role", "option");
    item.setAttribute("aria-disabled", "true");
    item.tabIndex = -1;
    item.textContent = otherwise;
    items.push(item);
  }
  choices.replaceChildren(...items);
  place(opened.word ?? opened.sentence);
  items[0].focus({ preventScroll: true });
}

function place(anchor) {
  choices.style.left = "0"; // as wide as it wants to be while it is measured
  const box = anchor.getClientRects()[0];
  const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - choices.offsetWidth - 8));
  choices.style.left = `${left + scrollX}px`;
  choices.style.top = `${box.bottom + scrollY + 6}px`;
}

function choose(option) {
  const { sentence } = opened;
  const each = sentences[sentence.dataset.index];
  each.target = each.target.replace(each.target.trim(), () => option);
  picked.set(each.source, each.target);
  const { index } = sentence.dataset;
  close();
  render();
  translation.querySelector(`[data-index="${index}"]`).focus();
  $("status").textContent = "Changed.";
}

export function close({ refocus = false } = {}) {
  if (!opened) return;
  const { sentence, word } = opened;
  opened = null;
  choices.hidden = true;
  sentence.setAttribute("aria-expanded", "false");
  if (refocus) sentence.focus();
  else word?.classList.remove("chosen"); // the keyboard goes on from the word
}

// Pointing

const sentenceOf = (event) => event.target.closest?.(".sentence");

translation.addEventListener("pointerover", (event) => {
  const sentence = sentenceOf(event);
  if (sentence) mark(Number(sentence.dataset.index));
});
translation.addEventListener("pointerleave", () => mark(null));
translation.addEventListener("focusin", (event) => mark(Number(sentenceOf(event)?.dataset.index)));
translation.addEventListener("focusout", () => opened || mark(null));
translation.addEventListener("click", (event) => {
  const sentence = sentenceOf(event);
  if (sentence && getSelection().isCollapsed) open(sentence, event.target.closest(".word"));
});

// With the keyboard: Tab goes from sentence to sentence, the arrows from word to word, Enter asks for others.
translation.addEventListener("keydown", (event) => {
  const sentence = sentenceOf(event);
  if (!sentence) return;
  const all = [...sentence.querySelectorAll(".word")];
  const current = all.findIndex((word) => word.classList.contains("chosen"));
  if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const next = Math.max(0, Math.min(all.length - 1, current + (event.key === "ArrowRight" ? 1 : -1)));
    all[current]?.classList.remove("chosen");
    all[next]?.classList.add("chosen");
    $("status").textContent = all[next]?.textContent ?? "";
  } else if (event.key === "Enter" || event.key === " ") {
    open(sentence, all[current]);
  } else return;
  event.preventDefault();
});

choices.addEventListener("keydown", (event) => {
  const items = [...choices.children];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) items[(items.indexOf(document.activeElement) + step + items.length) % items.length].focus();
  else if (event.key === "Enter" || event.key === " ") document.activeElement.click();
  else if (event.key === "Escape" || event.key === "Tab") close({ refocus: true });
  else return;
  event.preventDefault();
});

document.addEventListener("pointerdown", (event) => {
  if (!choices.contains(event.target)) close();
});

// The sentence that the caret stands in
document.addEventListener("selectionchange", () => {
  if (document.activeElement !== text) return;
  let end = 0;
  const index = sentences.findIndex((each) => (end += each.source.length) > text.selectionStart);
  mark(index < 0 ? sentences.length - 1 : index);
});
text.addEventListener("blur", () => mark(null));
