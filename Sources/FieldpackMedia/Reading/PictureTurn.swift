/// How a stored picture has to be turned to stand upright, numbered as EXIF's Orientation.
package enum PictureTurn: Int, Hashable, Sendable, CaseIterable {
  case none = 1
  case mirror, half, flip, transpose, right, transverse, left

  /// - Parameter matrix: a, b, c and d of a QuickTime matrix: x' = ax + cy, y' = bx + dy, with y
  ///   downwards. Turns that are not by right angles become the nearest that is.
  init(matrix: (a: Double, b: Double, c: Double, d: Double)) {
    let (a, b, c, d) = matrix
    if abs(a) + abs(d) >= abs(b) + abs(c) {
      self = d < 0 ? (a < 0 ? .half : .flip) : (a < 0 ? .mirror : .none)
    } else {
      self = b < 0 ? (c < 0 ? .transverse : .left) : (c < 0 ? .right : .transpose)
    }
  }

  /// Whether width and height change places.
  package var swapsSides: Bool { rawValue >= 5 }

  /// The filters of ffmpeg that turn it.
  var filters: [String] {
    switch self {
    case .none: []
    case .mirror: ["hflip"]
    case .half: ["hflip", "vflip"]
    case .flip: ["vflip"]
    case .transpose: ["transpose=cclock_flip"]
    case .right: ["transpose=clock"]
    case .transverse: ["transpose=clock_flip"]
    case .left: ["transpose=cclock"]
    }
  }
}
