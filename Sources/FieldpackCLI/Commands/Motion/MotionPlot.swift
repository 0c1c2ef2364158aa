import Fieldpack
import FieldpackMaps

/// Channels over time as one SVG file, a panel for each section.
struct MotionPlot {
  let title: String
  let subtitle: String
  let samples: [MotionSample]
  let channels: [MotionChannel]
  /// Samples that are farther apart than so many seconds are not joined.
  let gapSeconds: Double

  /// The whole file.
  func bytes() -> [UInt8] {
    Plot(
      title: title, subtitle: subtitle, samples: samples, time: { $0.time }, gap: gapSeconds,
      panels: MotionSection.allCases.compactMap(panel)
    ).bytes()
  }

  /// A channel has the same colour, whatever is shown beside it.
  private func panel(of section: MotionSection) -> Plot<MotionSample>.Panel? {
    let series = section.channels.enumerated().filter { channels.contains($1) }
      .map { color, channel in
        Plot<MotionSample>.Series(channel.rawValue, color: color) { $0.reading[channel] }
      }
    return series.isEmpty ? nil : .init("\(section.title), \(section.unit)", series)
  }
}

extension MotionSection {
  fileprivate var title: String {
    switch self {
    case .attitude: "attitude"
    case .acceleration: "acceleration"
    case .magneticField: "magnetic field"
    case .rotation: "rotation"
    }
  }
}
