import FieldpackCore

/// The name of a feature on a map.
struct MapLabel: Hashable {
  static let size = 12.0

  let text: String
  /// In tenths of a unit of the drawing.
  let at: SVGLayer.Dot
  let kind: SVGFeature.Kind
  /// How far the feature's sign reaches from its middle, in pixels.
  let reach: Double
  /// In pixels, and rather more than less, since the font is not known here.
  let width: Double

  init(_ text: String, at: SVGLayer.Dot, kind: SVGFeature.Kind, reach: Double) {
    self.text = DisplayText.cut(DisplayText.visible(text), to: 40)
    self.at = at
    self.kind = kind
    self.reach = reach
    width = Self.width(of: self.text)
  }

  /// What letters of DejaVu Sans take, which is wider than most fonts.
  private static func width(of text: String) -> Double {
    text.reduce(4) { width, character in
      let cells = DisplayText.width(character)
      if cells != 1 { return width + Double(cells) * 0.52 * size }
      switch character {
      case "i", "j", "l", ".", ",", ":", ";", "'", "|", "!", "I", " ": return width + 0.36 * size
      case "m", "w", "M", "W", "@", "%", "…", "—": return width + 1.05 * size
      case "A"..."Z": return width + 0.78 * size
      default:
        let isNarrow = character.isASCII || character.isLetter && character < "\u{2000}"
        return width + (isNarrow ? 0.67 : 1.05) * size
      }
    }
  }
}

/// Where a label stands: beside its feature or in the middle of it.
struct PlacedLabel: Hashable {
  let label: MapLabel
  /// In pixels: the place of the text's anchor on its base line.
  let x: Double
  let y: Double
  let anchor: String
}

/// Finds places for labels so that no two of them overlap and all are on the map.
struct LabelPlacing {
  private struct Box {
    let west, north, east, south: Double

    func overlaps(_ other: Box) -> Bool {
      west < other.east && other.west < east && north < other.south && other.north < south
    }
  }

  private struct Cell: Hashable {
    let x, y: Int
  }

  private static let cell = 64.0
  /// Labels may reach into the room around the map, so that points in its corners have some.
  private static let room = 8.0
  private let width: Double
  private let height: Double
  private let scale: Double
  private var taken: [Cell: [Box]] = [:]

  /// - Parameters:
  ///   - width: of the map in pixels, as the height.
  ///   - scale: the units of the drawing in a pixel.
  init(width: Double, height: Double, scale: Double) {
    self.width = width
    self.height = height
    self.scale = scale
  }

  /// Tries beside and above the feature, then gives up: `nil`.
  mutating func place(_ label: MapLabel) -> PlacedLabel? {
    let (x, y) = (Double(label.at.x) / 10 / scale, Double(label.at.y) / 10 / scale)
    let gap = label.reach + 3
    let (half, up, down) = (label.width / 2, MapLabel.size, MapLabel.size * 0.35)
    let places: [(x: Double, y: Double, anchor: String)] =
      label.kind == .polygon
      ? [(x, y + 4, "middle")]
      : [
        (x + gap, y + 4, "start"), (x - gap, y + 4, "end"), (x, y - gap - 2, "middle"),
        (x, y + gap + 9, "middle"),
      ]
    for place in places {
      let west =
        place.anchor == "start"
        ? place.x : place.anchor == "end" ? place.x - label.width : place.x - half
      let box = Box(
        west: west, north: place.y - up, east: west + label.width, south: place.y + down)
      guard box.west >= -Self.room, box.north >= -Self.room, box.east <= width + Self.room,
        box.south <= height + Self.room, take(box)
      else { continue }
      return PlacedLabel(label: label, x: place.x, y: place.y, anchor: place.anchor)
    }
    return nil
  }

  private mutating func take(_ box: Box) -> Bool {
    let columns = Int(box.west / Self.cell)...Int(max(box.west, box.east) / Self.cell)
    let rows = Int(box.north / Self.cell)...Int(max(box.north, box.south) / Self.cell)
    for column in columns {
      for row in rows {
        if taken[Cell(x: column, y: row), default: []].contains(where: box.overlaps) {
          return false
        }
      }
    }
    for column in columns {
      for row in rows { taken[Cell(x: column, y: row), default: []].append(box) }
    }
    return true
  }
}
