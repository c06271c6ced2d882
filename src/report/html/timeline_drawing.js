// Draws rows of a timeline. Where there are more pieces of work than pixels, each column of pixels shows how long each class
// of work ran in its time; sums of blocks keep that fast for millions.
(function () {
  'use strict';
  const timeline = window.ridgelineTimeline;
  const canvas = window.ridgelineCanvas;
  const kBlock = timeline.kBlock;
  const kClasses = timeline.kClasses;
  const kLabel = 30;   // pixels that a label takes at least
  const times = new Float64Array(kClasses);

  function packed(css) {
    const number = parseInt(css.slice(1), 16);
    return (255 << 24 | (number & 255) << 16 | (number >> 8 & 255) << 8 | number >> 16) >>> 0;   // bytes are red, green, blue, alpha
  }

  class Painter {
    constructor() {
      this.buffer = document.createElement('canvas');
      this.readTheme();
    }
    readTheme() {
      this.colours = timeline.colourNames.map(function (name) { return canvas.colour('--lane-' + name); });
      this.packed = Uint32Array.from(this.colours, packed);
      this.onColour = canvas.colour('--page');
      this.onSoft = canvas.colour('--lane-soft-ink');
    }

    // Adds up in `times` what runs in [from, to), from piece `at` on; returns the first piece that may go on behind.
    static addUp(row, at, from, to) {
      const start = row.start, end = row.end, classes = row.classes, sums = row.sums, count = row.count;
      let i = at;
      while (i < count && start[i] < to) {
        if ((i & (kBlock - 1)) === 0 && i + kBlock <= count && start[i] >= from && end[i + kBlock - 1] <= to) {
          const sum = (i / kBlock) * kClasses;
          for (let of = 0; of < kClasses; ++of) times[of] += sums[sum + of];
          i += kBlock;
          continue;
        }
        const lasts = Math.min(end[i], to) - Math.max(start[i], from);
        times[classes[i]] += lasts > 0 ? lasts : 1e-3;
        ++i;
      }
      return i > at && end[i - 1] > to ? i - 1 : i;
    }

    // `area` in pixels of the page; `highlights`: what is not dimmed is seen however short it is.
    paint(target, rows, view, area, highlights) {
      const visible = rows.reduce(function (sum, row) { return sum + row.firstFrom(view.to) - row.firstAfter(view.from); }, 0);
      if (rows.length > 1 || visible > area.width / 2) return this.paintColumns(target, rows, view, area, highlights);
      return this.paintPieces(target, rows[0], view, area);
    }

    paintColumns(target, rows, view, area, highlights) {
      const width = Math.max(1, Math.round(area.width * target.ratio));
      const height = Math.max(1, Math.round(area.height * target.ratio));
      if (this.buffer.width !== width || this.buffer.height !== height) Object.assign(this.buffer, { width: width, height: height });
      const context = this.buffer.getContext('2d');
      const image = context.createImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      const each = (view.to - view.from) / width;
      const least = Math.ceil(target.ratio);
      const at = rows.map(function (row) { return row.firstAfter(view.from); });
      const labels = [];
      for (let x = 0; x < width; ++x) {
        const from = view.from + x * each;
        const to = from + each;
        let next = Infinity;
        for (let i = 0; i < rows.length; ++i) if (at[i] < rows[i].count) next = Math.min(next, rows[i].start[at[i]]);
        if (next === Infinity) break;
        if (next >= to) {
          x = Math.max(x, Math.floor((next - view.from) / each) - 1);
          continue;
        }
        times.fill(0);
        for (let i = 0; i < rows.length; ++i) {
          const row = rows[i];
          const first = at[i];
          if (rows.length === 1 && first < row.count && row.end[first] - row.start[first] > kLabel * each * target.ratio &&
              labels[labels.length - 1] !== first)
            labels.push(first);
          at[i] = Painter.addUp(row, first, from, to);
        }
        let whole = 0;
        for (let of = 0; of < kClasses; ++of) whole += times[of];
        if (whole < each) whole = each;   // several rows run more than the time
        let top = height;
        let sum = 0;
        for (let of = 0; of < kClasses; ++of) {
          if (times[of] === 0) continue;
          sum += times[of];
          let edge = Math.max(0, height - Math.round(sum / whole * height));
          if (top === height || (highlights && of !== timeline.kDim)) edge = Math.max(0, Math.min(edge, top - least));
          for (let y = edge; y < top; ++y) pixels[y * width + x] = this.packed[of];
          top = Math.min(top, edge);
        }
      }
      context.putImageData(image, 0, 0);
      target.context.drawImage(this.buffer, area.left, area.top, area.width, area.height);
      labels.forEach(function (i) { this.label(target.context, rows[0], i, view, area); }, this);
    }

    paintPieces(target, row, view, area) {
      const context = target.context;
      const scale = area.width / (view.to - view.from);
      const last = row.firstFrom(view.to);
      for (let i = row.firstAfter(view.from); i < last; ++i) {
        const left = Math.max(0, (row.start[i] - view.from) * scale);
        const right = Math.min(area.width, (row.end[i] - view.from) * scale);
        const gap = right - left > 4 ? 0.5 : 0;
        context.fillStyle = this.colours[row.classes[i]];
        context.fillRect(area.left + left, area.top, Math.max(1, right - left - gap), area.height);
        if (right - left >= kLabel) this.label(context, row, i, view, area);
      }
    }

    label(context, row, i, view, area) {
      const scale = area.width / (view.to - view.from);
      const left = Math.max(0, (row.start[i] - view.from) * scale);
      const right = Math.min(area.width, (row.end[i] - view.from) * scale);
      if (right - left < kLabel) return;
      const of = row.classes[i];
      const soft = of === timeline.kModule || of === timeline.kOperation || of === timeline.kDim;
      context.fillStyle = soft ? this.onSoft : this.onColour;
      context.font = (area.height > 18 ? 12 : 11) + 'px ' + this.family;
      context.textBaseline = 'middle';
      context.fillText(canvas.fitted(context, this.names[row.name[i]].short, right - left - 8), area.left + left + 4,
        area.top + area.height / 2 + 0.5);
    }
  }

  timeline.Painter = Painter;
})();
