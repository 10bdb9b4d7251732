"""Learn a metric from draws and their gradients together, by minimising the Fisher divergence to a normal.

If the posterior is normal, its gradients say as much as its draws do: the affine map that whitens both is found exactly
from one draw more than it has dimensions, where a covariance needs hundreds. Runs on the host in float64, whatever the
run's precision, since the dense estimate loses definiteness in float32.

**Source**: Seyboldt, Carlson & Carpenter (2026), "Preconditioning Hamiltonian Monte Carlo by minimizing Fisher
divergence", arXiv:2603.18845. The search for few directions in what the diagonal leaves over, and the choice between
forms by held-out draws, are our own.
"""

from .choose import check_room as check_room
from .choose import learn_metric as learn_metric
from .choose import rank_for as rank_for
from .curvature import Care as Care
from .curvature import care as care
from .curvature import target_accept as target_accept
from .diagonal import initial_metric as initial_metric
from .metric import METRICS as METRICS
from .metric import Metric as Metric
from .metric import MetricForm as MetricForm
from .record import Choice as Choice
from .record import reason as reason
