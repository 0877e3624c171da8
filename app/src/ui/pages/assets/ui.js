// What the script adds: live updates of a running study, dropping files, and contenders checked one by one. Without it,
// everything works with links, buttons and reloading. Nothing runs between two events: a timer would take CPU time from
// the measurement.
"use strict";

const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

// A running study: the server sends pieces of the page, with all names as escaped text.
function watch(place) {
  const events = new EventSource(place.dataset.live);
  let heat = null;
  events.addEventListener("piece", (event) => {
    renew(place, event.data);
    // Screen readers announce it once a heat: every step would be too often.
    const status = place.querySelector("[data-status]");
    const isOver = place.querySelector("[data-over]") !== null;
    if (status.dataset.status !== heat || isOver) one("[data-said]").textContent = status.textContent;
    heat = status.dataset.status;
    if (isOver) {
      events.close();
      finish(place);
    }
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) one("[data-said]").textContent = "The connection was closed.";
  });
}

// Replaces a piece, and keeps open details, scroll positions and the focus.
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

// The study has ended: hides the stop button, and moves its focus to the link to the report.
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

// Sends the form when a file is dropped anywhere on the page, or chosen.
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
        `${file.name} has ${mib(file.size)} MiB, more than ${mib(largest)} MiB. Keep only the reports in it, or use the command line: drome import FILE.`;
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

// Checks one contender after the other. Each check runs a command, so it is a POST. Only its answer tells whether a row
// belongs in a list of installed contenders, or in one of missing ones.
async function ask(places) {
  const said = one("[data-asked]");
  const wanted = one("[data-installed]")?.dataset.installed;
  let missing = 0;
  for (const [i, place] of places.entries()) {
    said.textContent = `Checking which are installed: ${i + 1} of ${places.length}`;
    try {
      const answer = await fetch(place.dataset.ask, { method: "POST" });
      if (!answer.ok) throw new Error(answer.statusText);
      place.innerHTML = await answer.text();
      const isMissing = place.querySelector(".open") !== null;
      place.closest("tr").hidden = wanted === (isMissing ? "yes" : "no");
    } catch {
      place.textContent = "unknown: no answer";
    }
    if (place.querySelector(".open")) missing += 1;
  }
  said.textContent = `${places.length - missing} of ${places.length} are installed.`;
}

// Shows how many runs are selected, and enables the button when the number is right.
function count(form) {
  const wanted = Number(form.dataset.choose);
  const said = form.querySelector("[data-choose-count]");
  const button = form.querySelector("button");
  const tell = () => {
    const ticked = form.querySelectorAll("input:checked").length;
    button.disabled = ticked !== wanted;
    said.textContent = `${ticked} of ${wanted} selected`;
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
