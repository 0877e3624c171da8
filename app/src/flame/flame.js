// What the script of a flame graph adds: zoom, search and the keyboard, without loading the page again. Nothing runs
// between two events.
"use strict";

// In a block of its own: the names of ui.js are those of the whole page.
{
  const graph = document.querySelector("[data-flame]");
  if (graph) enliven(graph);

  function enliven(graph) {
    const form = document.querySelector("[data-flame-search]");
    const input = form.querySelector("input[type=search]");
    const say = (place, words) => (document.querySelector(`[data-flame-${place}]`).textContent = words);
    const frames = read(graph);
    // What was zoomed before, the latest last.
    const before = [];
    let zoomed = frames.find((frame) => frame.link.getAttribute("tabindex") === "0") ?? frames[0];
    let reached = zoomed;

    // Shows a function and what it called as wide as the picture, and its callers above it.
    const zoom = (to) => {
      zoomed = to;
      const callers = new Set();
      for (let frame = to; frame; frame = frame.caller) callers.add(frame);
      for (const frame of frames) {
        const isAround = callers.has(frame);
        const isInside = frame.index > to.index && frame.index < to.end;
        frame.link.toggleAttribute("hidden", !isAround && !isInside);
        if (isAround) place(frame, 0, 1);
        if (isInside) place(frame, (frame.before - to.before) / to.total, frame.total / to.total);
      }
      reach(to);
      say("zoomed", `Zoomed to ${to.label}`);
    };

    const place = (frame, left, width) => {
      frame.box.setAttribute("x", `${100 * left}%`);
      frame.box.setAttribute("width", `${100 * width}%`);
    };

    // The one box that the tabulator reaches.
    const reach = (frame) => {
      reached.link.setAttribute("tabindex", "-1");
      frame.link.setAttribute("tabindex", "0");
      reached = frame;
      say("here", frame.label);
    };

    const zoomIn = (frame) => {
      if (frame !== zoomed) {
        before.push(zoomed);
        zoom(frame);
      }
      frame.link.focus({ preventScroll: true });
    };

    const back = () => {
      const from = zoomed;
      zoom(before.pop() ?? frames[0]);
      reach(from);
      if (graph.contains(document.activeElement)) from.link.focus({ preventScroll: true });
    };

    const search = () => {
      const sought = input.value.trim();
      const name = sought.toLowerCase();
      let samples = 0;
      let end = 0;
      for (const frame of frames) {
        const isFound = name !== "" && frame.name.toLowerCase().includes(name);
        frame.link.classList.toggle("found", isFound);
        // What a function calls is in its time already.
        if (isFound && frame.index >= end) {
          samples += frame.total;
          end = frame.end;
        }
      }
      const share = `${((100 * samples) / frames[0].total).toFixed(1)} %`;
      if (name === "") say("matched", "");
      else if (samples === 0) say("matched", `No function in this graph matches “${sought}”.`);
      else say("matched", `${share} of the CPU time is in functions that match “${sought}” and in what they call.`);
    };

    const of = (event) => frames[links.indexOf(event.target.closest(".frame"))];
    const links = frames.map((frame) => frame.link);

    graph.addEventListener("click", (event) => {
      const frame = of(event);
      // With these keys a link opens elsewhere.
      if (!frame || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      zoomIn(frame);
    });
    graph.addEventListener("keydown", (event) => {
      const frame = of(event);
      if (!frame || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      const to = event.key === "Enter" ? frame : neighbour(frame, event.key);
      if (to === undefined) return;
      event.preventDefault();
      if (event.key === "Enter") zoomIn(frame);
      else if (to) to.link.focus();
    });
    graph.addEventListener("focusin", (event) => {
      const frame = of(event);
      if (frame) reach(frame);
    });
    graph.addEventListener("pointerover", (event) => {
      const frame = of(event);
      if (frame) say("here", frame.label);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && event.target !== input && zoomed !== frames[0]) back();
    });
    input.addEventListener("input", search);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      search();
    });
    form.querySelector("[data-flame-reset]").addEventListener("click", (event) => {
      event.preventDefault();
      input.value = "";
      search();
      before.length = 0;
      zoom(frames[0]);
    });
    // A browser that goes back fills the search in again.
    window.addEventListener("pageshow", search);
  }

  // All boxes. Each is followed by those within it, so levels are enough to know which function called which.
  function read(graph) {
    const callers = [];
    const frames = [...graph.querySelectorAll(".frame")].map((link, index) => ({
      link,
      index,
      end: 0,
      box: link.querySelector("svg"),
      name: link.querySelector("title").textContent.split("\n")[0],
      label: link.getAttribute("aria-label"),
      level: Number(link.getAttribute("aria-level")),
      before: Number(link.dataset.before),
      total: Number(link.dataset.total),
      caller: null,
      callees: [],
    }));
    for (const frame of frames) {
      for (const closed of callers.splice(frame.level - 1)) closed.end = frame.index;
      frame.caller = callers.at(-1) ?? null;
      frame.caller?.callees.push(frame);
      callers.push(frame);
    }
    for (const open of callers) open.end = frames.length;
    return frames;
  }

  // Where an arrow key leads from a box: another one, null if there is none, undefined for any other key.
  function neighbour(frame, key) {
    const isShown = (other) => !other.link.hasAttribute("hidden");
    const beside = frame.caller ? frame.caller.callees.filter(isShown) : [frame];
    const at = beside.indexOf(frame);
    const callees = frame.callees.filter(isShown);
    switch (key) {
      case "ArrowUp":
        return frame.caller;
      case "ArrowDown":
        return callees.reduce((most, callee) => (most && most.total >= callee.total ? most : callee), null);
      case "ArrowLeft":
        return beside[at - 1] ?? null;
      case "ArrowRight":
        return beside[at + 1] ?? null;
      default:
        return undefined;
    }
  }
}
