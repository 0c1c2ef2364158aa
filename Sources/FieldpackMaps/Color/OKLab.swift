import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A colour in OKLab, where equal distances look equally large (Björn Ottosson, "A perceptual color
/// space for image processing").
struct OKLab: Hashable, Sendable {
  /// From 0, which is black, to 1, which is white.
  var lightness: Double
  var a: Double
  var b: Double

  init(lightness: Double, a: Double, b: Double) {
    self.lightness = lightness
    self.a = a
    self.b = b
  }

  /// - Parameter hue: in degrees.
  init(lightness: Double, chroma: Double, hue: Double) {
    self.init(
      lightness: lightness, a: chroma * cos(hue * .pi / 180), b: chroma * sin(hue * .pi / 180))
  }

  init(_ color: StyleColor) { self.init(LinearRGB(color)) }

  init(_ rgb: LinearRGB) {
    let l = cbrt(0.4122214708 * rgb.red + 0.5363325363 * rgb.green + 0.0514459929 * rgb.blue)
    let m = cbrt(0.2119034982 * rgb.red + 0.6806995451 * rgb.green + 0.1073969566 * rgb.blue)
    let s = cbrt(0.0883024619 * rgb.red + 0.2817188376 * rgb.green + 0.6299787005 * rgb.blue)
    lightness = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s
    a = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s
    b = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s
  }

  func distance(to other: OKLab) -> Double {
    let (dl, da, db) = (lightness - other.lightness, a - other.a, b - other.b)
    return (dl * dl + da * da + db * db).squareRoot()
  }

  /// The colour that a screen shows: with as much of its chroma as the screen has.
  var shown: StyleColor {
    var share = 1.0
    while share > 0 {
      let rgb = LinearRGB(OKLab(lightness: lightness, a: a * share, b: b * share))
      if rgb.isShown { return rgb.color }
      share -= 0.05
    }
    return LinearRGB(OKLab(lightness: lightness, a: 0, b: 0)).color
  }
}

/// A colour by the light of a screen's three lamps, each from 0 to 1.
struct LinearRGB: Hashable, Sendable {
  var red: Double
  var green: Double
  var blue: Double

  init(_ red: Double, _ green: Double, _ blue: Double) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  init(_ color: StyleColor) {
    func light(_ channel: UInt8) -> Double {
      let value = Double(channel) / 255
      return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
    self.init(light(color.red), light(color.green), light(color.blue))
  }

  init(_ lab: OKLab) {
    let l = lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b
    let m = lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b
    let s = lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b
    let (l3, m3, s3) = (l * l * l, m * m * m, s * s * s)
    red = 4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3
    green = -1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3
    blue = -0.0041960863 * l3 - 0.7034186147 * m3 + 1.7076147010 * s3
  }

  var isShown: Bool {
    [red, green, blue].allSatisfy { (-0.0005...1.0005).contains($0) }
  }

  var color: StyleColor {
    func channel(_ light: Double) -> UInt8 {
      let light = max(0, min(1, light))
      let value = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
      return UInt8(max(0, min(255, (value * 255).rounded())))
    }
    return StyleColor(red: channel(red), green: channel(green), blue: channel(blue))
  }

  /// As readers without the cones for red and those without the cones for green see the colour (Machado,
  /// Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
  /// Deficiency", severity 1).
  var asColorBlindReadersSee: [LinearRGB] {
    [
      LinearRGB(
        0.152286 * red + 1.052583 * green - 0.204868 * blue,
        0.114503 * red + 0.786281 * green + 0.099216 * blue,
        -0.003882 * red - 0.048116 * green + 1.051998 * blue),
      LinearRGB(
        0.367322 * red + 0.860646 * green - 0.227968 * blue,
        0.280085 * red + 0.672501 * green + 0.047413 * blue,
        -0.011820 * red + 0.042940 * green + 0.968881 * blue),
    ]
  }
}
