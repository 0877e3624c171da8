// What a script adds to the page: a study that renews itself, files that are dropped, answers that come late. Without
// it everything works by links, buttons and loading the page again. Nothing here runs between two events: a timer would
// take its time from the machine that is measured.
"use strict";

const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

// A study under way: pieces of the page, made by the server, names and all as text.
function watch(place) {
  const events = new EventSource(place.dataset.live);
  let block = null;
  events.addEventListener("piece", (event) => {
    renew(place, event.data);
    // Told aloud once a block: every trial would be too much to listen to.
    const status = place.querySelector("[data-status]");
    const isOver = place.querySelector("[data-over]") !== null;
    if (status.dataset.status !== block || isOver) one("[data-said]").textContent = status.textContent;
    block = status.dataset.status;
    if (isOver) {
      events.close();
      finish(place);
    }
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) one("[data-said]").textContent = "The connection has ended.";
  });
}

// What a reader has opened, scrolled to or is on stays so.
function renew(place, piece) {
  const opened = [...place.querySelectorAll("details")].map((part) => part.open);
  const scrolled = [...place.querySelectorAll(".scroll")].map((part) => part.scrollLeft);
  const reached = "a, summary, .scroll";
  const focused = [...place.querySelectorAll(reached)].indexOf(document.activeElement);
  place.innerHTML = piece;
  place.querySelectorAll("details").forEach((part, i) => (part.open = opened[i] ?? false));
  place.querySelectorAll(".scroll").forEach((part, i) => (part.scrollLeft = scrolled[i] ?? 0));
  if (focused >= 0) place.querySelectorAll(reached)[focused]?.focus({ preventScroll: true });
}

// There is nothing to stop any more; who was on that button goes on at the report.
function finish(place) {
  const held = all("[data-while]").filter((part) => {
    const hasFocus = part.contains(document.activeElement);
    part.hidden = true;
    return hasFocus;
  });
  all(".beacon").forEach((beacon) => beacon.remove());
  const next = place.querySelector("a.button");
  if (held.length > 0 && next) next.focus();
}

// A file that is dropped anywhere on the page, or chosen: the form is sent as its button would send it.
function receive(form) {
  const input = form.querySelector("input[type=file]");
  const failure = form.querySelector("[data-drop-failure]");
  const largest = Number(form.dataset.drop);
  const send = () => {
    const file = input.files[0];
    const isTooLarge = file && file.size > largest;
    failure.hidden = !isTooLarge;
    if (isTooLarge) {
      const mib = (bytes) => Math.round(bytes / 1048576).toLocaleString("en");
      failure.textContent =
        `${file.name} has ${mib(file.size)} MiB, more than ${mib(largest)}. Cut out what is to be read, or use the command line: drome import FILE.`;
      input.value = "";
    } else if (file) {
      form.requestSubmit();
    }
  };
  input.addEventListener("change", send);
  const over = (event, is) => {
    event.preventDefault();
    form.classList.toggle("over", is);
  };
  document.addEventListener("dragover", (event) => over(event, true));
  document.addEventListener("dragleave", (event) => over(event, false));
  document.addEventListener("drop", (event) => {
    over(event, false);
    if (event.dataTransfer.files.length === 0) return;
    input.files = event.dataTransfer.files;
    send();
  });
}

// One question after the other: each runs a command, so it is a POST.
async function ask(places) {
  const said = one("[data-asked]");
  let missing = 0;
  for (const [i, place] of places.entries()) {
    said.textContent = `Asking which are installed: ${i + 1} of ${places.length}`;
    try {
      const answer = await fetch(place.dataset.ask, { method: "POST" });
      if (!answer.ok) throw new Error(answer.statusText);
      place.innerHTML = await answer.text();
    } catch {
      place.textContent = "unknown: no answer";
    }
    if (place.querySelector(".open")) missing += 1;
  }
  said.textContent = `${places.length - missing} of ${places.length} are installed.`;
}

// How many are ticked, of how many there must be.
function count(form) {
  const wanted = Number(form.dataset.choose);
  const said = form.querySelector("[data-choose-count]");
  const button = form.querySelector("button");
  const tell = () => {
    const ticked = form.querySelectorAll("input:checked").length;
    button.disabled = ticked !== wanted;
    said.textContent = `${ticked} of ${wanted} ticked`;
  };
  form.addEventListener("change", tell);
  window.addEventListener("pageshow", tell);
  tell();
}

all("[data-live]").forEach(watch);
all("[data-drop]").forEach(receive);
all("[data-choose]").forEach(count);
const asked = all("[data-ask]");
if (asked.length > 0) ask(asked);
