import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FieldpackMaps

/// A map of captures: a pin for each, turned to where it looked, and the tracks of videos.
struct CaptureDrawing {
  let title: String
  let captures: [Capture]
  /// The lines of those captures that have one.
  let lines: [Geometry]

  func svg() -> [UInt8] {
    var envelope = Envelope.empty
    for line in lines { if let box = line.envelope { envelope.formUnion(box) } }
    for capture in captures {
      let position = capture.info.position
      envelope.formUnion(
        Envelope(minX: position.x, minY: position.y, maxX: position.x, maxY: position.y))
    }
    // Room for pins that stand at the border.
    let room = max(envelope.width, envelope.height) / 20
    envelope.minX -= room
    envelope.maxX += room
    envelope.minY -= room
    envelope.maxY += room
    var map = SVGMap(title: title, envelope, in: .wgs84)
    if !lines.isEmpty {
      let style = LayerStyle(strokeColor: StyleColor("#0072B2"), strokeOpacity: 1, strokeWidth: 3)
      map.draw(MapLayer("tracks of videos", style: style, lines))
    }
    // The newest is drawn last, so that it lies above the others.
    for capture in captures.reversed() {
      let heading = capture.info.heading.flatMap { $0 < 0 ? nil : $0 }
      map.draw(
        SVGPin(
          at: MapPoint(capture.info.longitude, capture.info.latitude), heading: heading,
          title: capture.info.title))
    }
    return map.finished()
  }
}
